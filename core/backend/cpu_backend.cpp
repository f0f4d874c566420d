// The CPU back end: the instruction set is chosen at run time, the heavy steps of planning run on
// all threads.
#include <algorithm>
#include <atomic>
#include <bit>
#include <numeric>
#include <thread>

#include "backend/backends.h"
#include "backend/feature_operator.h"
#include "backend/gated_operator.h"
#include "backend/imported_operator.h"
#include "backend/loops_named.h"
#include "backend/memory_need.h"
#include "backend/node_operator.h"
#include "backend/product.h"
#include "backend/projected_operator.h"
#include "backend/recurrent_operator.h"
#include "backend/rounded_weights.h"
#include "backend/routed_rows.h"
#include "backend/singular_values.h"
#include "backend/tile_operator.h"
#include "backend/workers.h"
#include "data/group_by.h"
#include "data/memory.h"
#include "data/number_text.h"
#include "plan/visit_form.h"

namespace fovea {
namespace {

// Rows that one turn of a loop over tokens handles.
constexpr Index rows_per_turn = 512;

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(const CpuOptions& options)
      : loops_(loops_named(options.isa)),
        workers_(std::make_shared<Workers>(
            options.threads > 0
                ? options.threads
                : std::max(1, static_cast<int>(std::thread::hardware_concurrency())))) {}

  std::string id() const override { return "cpu"; }
  std::string precision() const override { return "fp32"; }
  std::string device() const override {
    const int threads = workers_->threads();
    return "CPU " + std::string(loops_.name) + ", " + plural(threads, "thread");
  }

  std::unique_ptr<Operator> bind(std::shared_ptr<const Plan> plan, const Problem& head,
                                 Run& run) const override {
    const Problem problem = counted_in(*plan, head);
    require_memory(memory_need(*plan, problem, workers_->threads()).total(), need_text(*plan),
                   fewer_tokens);
    const Product product = [&loops = loops_, workers = workers_](MatrixView a, MatrixView b,
                                                                  Run& its) {
      return fovea::product(a, b, loops, *workers, its.stop);
    };
    if (plan->rounded && plan->rounded->weights)
      return make_rounded_weights_operator(plan, problem, *this, product, run);
    return visit_form(
        *plan,
        [&](const TilePlan&) { return make_tile_operator(plan, problem, loops_, workers_, run); },
        [&](const NodePlan&) { return make_node_operator(plan, problem, loops_, workers_, run); },
        [&](const ProjectedPlan&) {
          return make_projected_operator(plan, problem, *this, product, run);
        },
        [&](const FeaturePlan&) {
          return make_feature_operator(plan, problem, loops_, workers_, run);
        },
        [&](const GatedPlan&) { return make_gated_operator(plan, problem, *this, run); },
        [&](const RecurrentPlan&) {
          return make_recurrent_operator(plan, problem, loops_, workers_, run);
        },
        [&](const ImportedPlan&) { return make_imported_operator(plan, problem, *this, run); });
  }

  std::vector<std::int32_t> lsh_buckets(MatrixView x, MatrixView directions,
                                        Run& run) const override {
    std::vector<std::int32_t> buckets(x.rows);
    std::vector<const float*> rows(directions.rows);
    for (Index r = 0; r < directions.rows; ++r) rows[r] = directions.row(r);
    for_rows(x.rows, run, [&](IndexRange range) {
      project(x, rows, range, [&](Index i, const float* dots, int stride) {
        std::uint32_t code = 0;
        for (std::size_t t = 0; t < rows.size(); ++t)
          code |= static_cast<std::uint32_t>(dots[static_cast<Index>(t) * stride] > 0) << t;
        // The inverse Gray code is the prefix exclusive-or from the top bit down.
        for (int shift = 1; shift < 32; shift *= 2) code ^= code >> shift;
        buckets[i] = code;
      });
    });
    return buckets;
  }

  std::vector<std::int32_t> route(MatrixView x, const Tree& tree, Run& run) const override {
    std::vector<std::int32_t> leaf(x.rows, 0);
    for_rows(x.rows, run, [&](IndexRange range) {
      for (Index begin = range.begin; begin < range.end; begin += RoutedRows::most)
        RoutedRows(x, {begin, std::min(begin + RoutedRows::most, range.end)}, loops_)
            .descend(tree, leaf.data() + begin);
    });
    return leaf;
  }

  Matrix product(MatrixView a, MatrixView b, Run& run) const override {
    return fovea::product(a, b, loops_, *workers_, run.stop);
  }

  int threads() const override { return workers_->threads(); }

  void share_out(Index count, Run& run, const std::function<void(Index)>& body) const override {
    workers_->loop(count, run.stop, [&](Index turn, int) { body(turn); });
  }

  std::vector<std::int32_t> stable_order(std::span<const std::int32_t> keys, std::int32_t key_count,
                                         Run& run) const override {
    run.check();
    const bool many_buckets = static_cast<std::size_t>(key_count) > 4 * keys.size() + 1024;
    if (!many_buckets) return group_by(keys, key_count).order;
    std::vector<std::int32_t> order(keys.size());
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, {}, [&](std::int32_t i) { return keys[i]; });
    return order;
  }

  Spectra singular_values(std::span<const MatrixView> blocks, Run& run) const override {
    const auto stage = run.profile.stage("decompose");
    Spectra out;
    out.values.resize(blocks.size());
    out.resolved.resize(blocks.size());
    double total = 0;
    for (const MatrixView& block : blocks) total += decomposition_effort(block.rows, block.cols);
    std::atomic<double> done = 0;
    workers_->loop(std::ssize(blocks), run.stop, [&](Index turn, int worker) {
      const MatrixView& block = blocks[turn];
      const auto found = fovea::singular_values(block, run.stop);
      out.values[turn].assign(found.values.begin(), found.values.end());
      out.resolved[turn] = found.resolved;
      done += decomposition_effort(block.rows, block.cols);
      if (worker == 0) run.reached(done / total);
    });
    run.reached(1);
    return out;
  }

 private:
  void for_rows(Index n, Run& run, const std::function<void(IndexRange)>& body) const {
    workers_->loop((n + rows_per_turn - 1) / rows_per_turn, run.stop, [&](Index turn, int) {
      body({turn * rows_per_turn, std::min(n, (turn + 1) * rows_per_turn)});
    });
  }

  // Dot products of rows of x with every direction, a strip of rows at a time.
  template <class Use>
  void project(MatrixView x, const std::vector<const float*>& directions, IndexRange range,
               Use use) const {
    const int d = static_cast<int>(x.cols), count = static_cast<int>(directions.size());
    std::vector<float> packed(static_cast<std::size_t>(d) * isa::usual_lanes);
    std::vector<float> dots(static_cast<std::size_t>(count) * isa::usual_lanes);
    for (Index begin = range.begin; begin < range.end; begin += isa::usual_lanes) {
      const int rows = static_cast<int>(std::min<Index>(isa::usual_lanes, range.end - begin));
      const float* pointers[isa::usual_lanes];
      for (int r = 0; r < rows; ++r) pointers[r] = x.row(begin + r);
      loops_.pack(pointers, rows, isa::usual_lanes, d, 1.0f, packed.data());
      loops_.logits(packed.data(), isa::usual_lanes, d, directions.data(), count, nullptr,
                    dots.data());
      for (int r = 0; r < rows; ++r) use(begin + r, dots.data() + r, isa::usual_lanes);
    }
  }

  const isa::Loops& loops_;
  std::shared_ptr<Workers> workers_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(const CpuOptions& options) {
  return std::make_unique<CpuBackend>(options);
}

}  // namespace fovea
