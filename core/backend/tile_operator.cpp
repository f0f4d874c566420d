#include "backend/tile_operator.h"

#include <atomic>
#include <cmath>
#include <limits>
#include <numbers>

#include "backend/bound_tiles.h"
#include "backend/pyramid.h"
#include "backend/query_strip.h"
#include "backend/tile_entries.h"

namespace fovea {
namespace {

// Running softmax of every query cluster of a level, logits in log2 units.
struct State {
  std::vector<float> maximum, sum;
  // Not yet divided by sum; undefined where the maximum is -inf: no key has been seen. No columns
  // when only the sums are asked for.
  Matrix z;

  State(Index count, Index dv)
      : maximum(static_cast<std::size_t>(count), -std::numeric_limits<float>::infinity()),
        sum(static_cast<std::size_t>(count), 0.0f),
        z(Matrix::uninitialised(count, dv)) {}

  bool fresh(std::size_t i) const { return !(sum[i] > 0); }

  double log2_sum(std::size_t i) const {
    return sum[i] > 0 ? maximum[i] + std::log2(static_cast<double>(sum[i]))
                      : -std::numeric_limits<double>::infinity();
  }
};

// What one thread works on: a strip of queries and its part of a State.
struct Strip {
  QueryStrip queries;
  alignas(64) float maximum[isa::max_lanes] = {}, sum[isa::max_lanes] = {};
  alignas(64) float rescale[isa::max_lanes] = {};
  float* z[isa::max_lanes] = {};
  const float* value[isa::max_keys] = {};

  explicit Strip(const BoundTiles& tiles) : queries(tiles) {}

  void rescale_rows(Index width) const {
    for (int lane = 0; lane < queries.count; ++lane)
      if (const float factor = rescale[lane]; factor != 1.0f)
        for (Index c = 0; c < width; ++c) z[lane][c] *= factor;
  }
};

class TileOperator final : public Operator {
 public:
  TileOperator(std::shared_ptr<const Plan> plan, const Problem& problem, const isa::Loops& loops,
               std::shared_ptr<Workers> workers, Run& run)
      : Operator(std::move(plan), problem),
        workers_(std::move(workers)),
        tiles_(bind(*this, loops, *workers_, run)) {}

 private:
  static BoundTiles bind(const Operator& self, const isa::Loops& loops, Workers& workers,
                         Run& run) {
    const auto stage = run.profile.stage("upload");
    return BoundTiles(self.plan(), self.problem(), loops, workers, run.stop);
  }

  Index n() const { return plan().n; }

  Output do_apply(MatrixView v, Run& run) const override {
    Matrix padded;
    MatrixView values = v;
    if (v.cols % 16 != 0) {  // the loops read whole vectors of a row
      padded = Matrix::padded(v.rows, v.cols);
      for (Index i = 0; i < v.rows; ++i) std::copy_n(v.row(i), v.cols, padded.row(i));
      values = padded;
    }
    State state = attend(values, run);
    const auto stage = run.profile.stage("divide");
    keep_sums(state);
    Output out;
    out.lse = divide(state, run);
    out.z = v.cols % 16 == 0 ? std::move(state.z) : Matrix::copy_of(state.z);
    return out;
  }

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    // From the first apply, else found now without values.
    if (log2_sums_.empty()) keep_sums(attend(MatrixView{nullptr, n(), 0, 0}, run));
    const auto stage = run.profile.stage("entries");
    return tile_entries(tiles_, rows, cols, pool, log2_sums_, *workers_, run);
  }

  void keep_sums(const State& state) const {
    if (!log2_sums_.empty()) return;
    log2_sums_.resize(static_cast<std::size_t>(n()));
    for (std::size_t i = 0; i < log2_sums_.size(); ++i)
      log2_sums_[i] = static_cast<float>(state.log2_sum(i));
  }

  // Runs all passes; the result is per query (level 0). `values` may have no columns.
  State attend(MatrixView values, Run& run) const {
    std::vector<Matrix> coarse_values;
    if (tiles_.key_top() > 0 && values.cols > 0) {
      const auto stage = run.profile.stage("coarsen");
      coarse_values = mean_pyramid(values, tiles_.key_top(), *workers_, run.stop);
    }
    std::vector<State> states;
    {
      const auto stage = run.profile.stage("attend");
      for (int level = 0; level <= tiles_.query_top(); ++level)
        states.emplace_back(clusters(n(), level), values.cols);
      Index total = 0, before = 0;
      for (const BoundPass& bound : tiles_.passes())
        total += static_cast<Index>(bound.strips.size());
      std::vector<Strip> strips(static_cast<std::size_t>(workers_->threads()), Strip(tiles_));
      for (const BoundPass& bound : tiles_.passes()) {
        const int level = bound.pass->key_level;
        const MatrixView level_values =
            level == 0 || values.cols == 0
                ? values
                : coarse_values[static_cast<std::size_t>(level) - 1].view();
        State& state = states[static_cast<std::size_t>(bound.pass->query_level)];
        std::atomic<Index> done = before;
        workers_->loop(
            static_cast<Index>(bound.strips.size()), run.stop, [&](Index turn, int worker) {
              attend_strip(bound, bound.strips[static_cast<std::size_t>(turn)], level_values, state,
                           strips[static_cast<std::size_t>(worker)], run.stop);
              if (run.progress)
                run.progress->fraction = static_cast<double>(++done) / static_cast<double>(total);
            });
        before += static_cast<Index>(bound.strips.size());
      }
    }
    const auto stage = run.profile.stage("merge");
    for (int level = tiles_.query_top(); level > 0; --level)
      merge_down(states[static_cast<std::size_t>(level)],
                 states[static_cast<std::size_t>(level) - 1], run);
    return std::move(states.front());
  }

  void attend_strip(const BoundPass& bound, const TileGroup& group, MatrixView values, State& state,
                    Strip& x, const std::stop_token& stop) const {
    QueryStrip& queries = x.queries;
    queries.count = static_cast<int>(group.rows.size());
    for (int lane = 0; lane < queries.count; ++lane) {
      const Index cluster = bound.row(group.rows.begin + lane);
      const auto at = static_cast<std::size_t>(cluster);
      queries.row[lane] = tiles_.query_row(bound.pass->query_level, cluster);
      queries.lane_token[lane] = static_cast<std::int32_t>(cluster);
      x.z[lane] = state.z.row(cluster);
      x.maximum[lane] = state.maximum[at];
      x.sum[lane] = state.sum[at];
      if (state.fresh(at)) std::fill_n(x.z[lane], state.z.stride(), 0.0f);
    }
    queries.pack();
    const isa::Loops& loops = queries.loops();
    queries.for_steps(bound, group, {0, n()}, bound.log2_weight, stop, [&] {
      float* s = queries.s.data();
      const int lanes = queries.lanes();
      const bool moved = loops.softmax(s, lanes, queries.keys, x.maximum, x.sum, x.rescale);
      if (values.cols == 0) return;
      if (moved) x.rescale_rows(state.z.stride());
      for (int k = 0; k < queries.keys; ++k) x.value[k] = values.row(queries.column[k]);
      loops.accumulate(s, lanes, queries.count, queries.keys, x.value,
                       static_cast<int>(state.z.stride()), x.z);
    });
    for (int lane = 0; lane < queries.count; ++lane) {
      const auto at = static_cast<std::size_t>(queries.lane_token[lane]);
      state.maximum[at] = x.maximum[lane];
      state.sum[at] = x.sum[lane];
    }
  }

  // Body(first, last) over [0, count) in pieces, on all threads.
  template <class Body>
  void for_pieces(Index count, Run& run, const Body& body) const {
    constexpr Index piece = 512;
    workers_->loop((count + piece - 1) / piece, run.stop, [&](Index turn, int) {
      body(turn * piece, std::min(count, (turn + 1) * piece));
    });
  }

  // What a coarse query found belongs to each of its two children.
  void merge_down(const State& parent, State& child, Run& run) const {
    const Index width = child.z.stride();
    for_pieces(static_cast<Index>(child.sum.size()), run, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        const auto c = static_cast<std::size_t>(i), p = c / 2;
        if (parent.fresh(p)) continue;
        float* z = child.z.row(i);
        const float* from = parent.z.row(i / 2);
        if (child.fresh(c)) {
          child.maximum[c] = parent.maximum[p];
          child.sum[c] = parent.sum[p];
          std::copy_n(from, width, z);
          continue;
        }
        const float top = std::max(child.maximum[c], parent.maximum[p]);
        const float ours = std::exp2(child.maximum[c] - top),
                    theirs = std::exp2(parent.maximum[p] - top);
        child.maximum[c] = top;
        child.sum[c] = child.sum[c] * ours + parent.sum[p] * theirs;
        for (Index x = 0; x < width; ++x) z[x] = z[x] * ours + from[x] * theirs;
      }
    });
  }

  // Z = sums of weighted values / sums of weights, in place; lse besides.
  std::vector<float> divide(State& state, Run& run) const {
    std::vector<float> lse(static_cast<std::size_t>(n()));
    for_pieces(n(), run, [&](Index first, Index last) {
      for (Index i = first; i < last; ++i) {
        const auto at = static_cast<std::size_t>(i);
        float* z = state.z.row(i);
        if (state.fresh(at))
          std::fill_n(z, state.z.stride(), 0.0f);
        else
          for (Index c = 0; c < state.z.stride(); ++c) z[c] /= state.sum[at];
        lse[at] = static_cast<float>(std::numbers::ln2 * state.log2_sum(at));
      }
    });
    return lse;
  }

  std::shared_ptr<Workers> workers_;
  BoundTiles tiles_;
  mutable std::vector<float> log2_sums_;  // [n]; an Operator is used from one thread at a time
};

}  // namespace

std::unique_ptr<Operator> make_tile_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem, const isa::Loops& loops,
                                             std::shared_ptr<Workers> workers, Run& run) {
  return std::make_unique<TileOperator>(std::move(plan), problem, loops, std::move(workers), run);
}

}  // namespace fovea
