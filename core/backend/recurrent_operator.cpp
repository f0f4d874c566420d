#include "backend/recurrent_operator.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "backend/padded.h"
#include "backend/recurrent_jumps.h"
#include "backend/recurrent_states.h"
#include "data/larger.h"
#include "data/pixels.h"
#include "data/stop.h"

namespace fovea {
namespace {

/// Numbers of some rows of pixels, from entries that come in any order.
class PooledEntries {
 public:
  PooledEntries(IndexRange pixels, IndexRange rows, IndexRange cols, const Pool& pool)
      : pixels_(pixels),
        rows_(rows),
        cols_(cols),
        pool_(pool),
        most_(pixels.size(), pool.cols, -std::numeric_limits<float>::infinity()),
        sum_(pixels.size() * pool.cols),
        seen_(sum_.size()) {}

  /// Entries of adjacent queries, all of one row of pixels.
  void add(Index pixel, Index key, std::span<const float> entries) {
    const Index c = pixel_of(key - cols_.begin, cols_.size(), pool_.cols),
                r = pixel - pixels_.begin;
    const auto at = static_cast<std::size_t>(r * pool_.cols + c);
    float most = most_(r, c);
    double sum = 0;
    for (const float p : entries) {
      most = larger_or_nan(most, p);
      sum += static_cast<double>(p);
    }
    most_(r, c) = most;
    sum_[at] += sum;
    seen_[at] += std::ssize(entries);
  }
  /// Entries that did not come are 0.
  void write(Matrix& out) {
    for (Index r = 0; r < pixels_.size(); ++r)
      for (Index c = 0; c < pool_.cols; ++c) {
        const auto at = static_cast<std::size_t>(r * pool_.cols + c);
        const Index pixel = pixels_.begin + r,
                    tokens = pool_.one_row ? 1 : pixel_extent(pixel, rows_.size(), pool_.rows),
                    entries = tokens * pixel_extent(c, cols_.size(), pool_.cols);
        if (seen_[at] < entries) most_(r, c) = larger_or_nan(most_(r, c), 0.0f);
        const bool mean = pool_.kind == Pool::Kind::mean;
        out(pixel, c) =
            mean ? static_cast<float>(sum_[at] / static_cast<double>(entries)) : most_(r, c);
        if (pool_.largest) (*pool_.largest)(pixel, c) = most_(r, c);
      }
  }

 private:
  IndexRange pixels_, rows_, cols_;
  const Pool& pool_;
  Matrix most_;
  std::vector<double> sum_;
  std::vector<Index> seen_;
};

class RecurrentOperator final : public Operator {
 public:
  RecurrentOperator(std::shared_ptr<const Plan> plan, const Problem& problem,
                    const isa::Loops& loops, std::shared_ptr<Workers> workers, Run& run)
      : Operator(std::move(plan), problem),
        recurrent_(std::get<RecurrentPlan>(this->plan().form)),
        loops_(loops),
        workers_(std::move(workers)),
        keys_(make_keys(run)),
        jumps_(keys_) {}

 private:
  static constexpr Index chunk = RecurrentKeys::chunk;

  RecurrentKeys make_keys(Run& run) const {
    const auto stage = run.profile.stage("chunks");
    return {recurrent_, problem(), *workers_, run.stop};
  }

  Output do_apply(MatrixView v, Run& run) const override {
    const Padded values(v);
    const auto stage = run.profile.stage("states");
    const MatrixView wide{values.view.data, v.rows, values.width(), values.view.stride};
    Matrix z = RecurrentStates(recurrent_, problem(), keys_, wide, loops_).run(*workers_, run);
    if (z.cols() == v.cols) return {std::move(z), {}};
    return {Matrix::copy_of({z.data(), z.rows(), v.cols, z.stride()}), {}};
  }

  // ---- Entries of P -----------------------------------------------------------------------------

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    const auto stage = run.profile.stage("entries");
    jumps_.make({(cols.end - 1) / chunk + 1, (rows.end - 1) / chunk}, loops_, *workers_, run.stop);
    Matrix out(pool.rows, pool.cols);
    if (pool.largest) *pool.largest = Matrix(pool.rows, pool.cols);
    std::vector<std::optional<RecurrentRows>> memory(workers_->threads());
    // Some rows of pixels fill the lanes of a strip.
    const Index tokens = pool.one_row ? 1 : (rows.size() + pool.rows - 1) / pool.rows,
                together = std::max<Index>(1, RecurrentRows::most / tokens),
                turns = (pool.rows + together - 1) / together;
    workers_->loop(turns, run.stop, [&](Index turn, int worker) {
      const IndexRange pixels{turn * together, std::min((turn + 1) * together, pool.rows)};
      auto& own = memory[worker];
      if (!own) own.emplace(keys_, loops_);
      RecurrentRows& strip = *own;
      if (pool.kind == Pool::Kind::none)
        copy_rows(pixels, rows, cols, strip, out, run);
      else
        pool_rows(pixels, rows, cols, pool, strip, out, run);
      if (worker == 0) run.reached(static_cast<double>(turn) / static_cast<double>(turns));
    });
    return out;
  }

  void copy_rows(IndexRange part, IndexRange rows, IndexRange cols, RecurrentRows& strip,
                 Matrix& out, Run& run) const {
    std::vector<Index> queries;
    for (Index r = part.begin; r < part.end; ++r) queries.push_back(rows.begin + r);
    for_entries(queries, cols, strip, run.stop, [&](Index key, const float* s) {
      for (Index r = part.begin; r < part.end; ++r) out(r, key - cols.begin) = s[r - part.begin];
    });
  }

  void pool_rows(IndexRange pixels, IndexRange rows, IndexRange cols, const Pool& pool,
                 RecurrentRows& strip, Matrix& out, Run& run) const {
    PooledEntries pooled(pixels, rows, cols, pool);
    std::vector<Index> queries, pixel;
    const auto add_strip = [&] {
      for_entries(queries, cols, strip, run.stop, [&](Index key, const float* s) {
        for (std::size_t begin = 0, end = 0; begin < queries.size(); begin = end) {
          while (end < queries.size() && pixel[end] == pixel[begin]) ++end;
          pooled.add(pixel[begin], key, {s + begin, end - begin});
        }
      });
      queries.clear();
      pixel.clear();
    };
    for (Index p = pixels.begin; p < pixels.end; ++p) {
      const Index drawn = pool.one_row ? drawn_row(rows, pool, p) : 0;
      const IndexRange its =
          pool.one_row ? IndexRange{drawn, drawn + 1} : pixel_tokens(p, rows, pool.rows);
      for (Index i = its.begin; i < its.end; ++i) {
        if (std::ssize(queries) == RecurrentRows::most) add_strip();
        queries.push_back(i);
        pixel.push_back(p);
      }
    }
    if (!queries.empty()) add_strip();
    pooled.write(out);
  }

  // Calls use(key, s), where s[lane] is the entry of the key and the lane's query. The queries
  // ascend. Keys that are left out have entries of 0.
  template <class Use>
  void for_entries(std::span<const Index> queries, IndexRange cols, RecurrentRows& strip,
                   const std::stop_token& stop, Use use) const {
    std::size_t joined = queries.size();  // lanes from here on have met their own chunk
    const Index first = cols.begin / chunk, last = (cols.end - 1) / chunk;
    strip.begin(static_cast<int>(queries.size()));
    for (Index c = queries.back() / chunk; c >= first; --c) {
      check_stop(stop);
      const Index next = joined > 0 ? queries[joined - 1] / chunk : -1;
      // The next chunk where something happens: a query joins, or entries of `cols` are wanted. A
      // strip without a query that has joined goes there at once.
      if (const Index to = std::max({next, first, strip.any() ? last : -1}); to < c) {
        jumps_.take(strip, {to + 1, c + 1}, stop);
        c = to;
      }
      if (strip.any())
        strip.pass(c);
      else
        std::fill_n(strip.s(), chunk * strip.lanes(), 0.0f);
      if (c == next) join(queries, joined, c, strip);
      const IndexRange tokens = keys_.tokens_of(c), its = tokens.intersected(cols);
      if (its.size() <= 0) continue;
      weigh(queries, tokens, strip);
      for (Index j = its.begin; j < its.end; ++j)
        use(j, strip.s() + (j - tokens.begin) * strip.lanes());
    }
  }

  // Queries of chunk c join the strip. Writes their entries for keys of the chunk, and their rows
  // as they are before the chunk.
  void join(std::span<const Index> queries, std::size_t& joined, Index c,
            RecurrentRows& strip) const {
    const IndexRange tokens = keys_.tokens_of(c);
    const RecurrentChunk its(recurrent_, problem(), tokens);
    while (joined > 0 && queries[joined - 1] >= tokens.begin) {
      const Index i = queries[--joined];
      const RecurrentChunk::Own own = its.own({i, i + 1});
      for (Index t = 0; t < tokens.size(); ++t)
        strip.s()[t * strip.lanes() + static_cast<Index>(joined)] = own.p(0, t);
      std::copy_n(own.r.row(0), keys_.d(), strip.row(static_cast<int>(joined)));
    }
    strip.changed();
  }

  // Multiplies the entries of a chunk by level weights.
  void weigh(std::span<const Index> queries, IndexRange tokens, RecurrentRows& strip) const {
    const Recurrence& recurrence = *recurrent_.recurrence;
    if (recurrence.level_weights.empty()) return;
    for (Index j = tokens.begin; j < tokens.end; ++j) {
      float* const s = strip.s() + (j - tokens.begin) * strip.lanes();
      for (std::size_t lane = 0; lane < queries.size(); ++lane)
        if (j <= queries[lane]) s[lane] *= recurrence.weight_of(queries[lane], j);
    }
  }

  const RecurrentPlan& recurrent_;
  const isa::Loops& loops_;
  std::shared_ptr<Workers> workers_;
  const RecurrentKeys keys_;
  mutable RecurrentJumps jumps_;  // (an Operator is used from one thread at a time)
};

}  // namespace

std::unique_ptr<Operator> make_recurrent_operator(std::shared_ptr<const Plan> plan,
                                                  const Problem& problem, const isa::Loops& loops,
                                                  std::shared_ptr<Workers> workers, Run& run) {
  return std::make_unique<RecurrentOperator>(std::move(plan), problem, loops, std::move(workers),
                                             run);
}

// Vectors of keys and what they erase, transitions; states, a strip for each thread.
MemoryNeed operator_need(const RecurrentPlan& plan, const Extents& extents, int threads) {
  const double width = as_double(padded_width(extents.d)), keys = as_double(extents.keys);
  const double rows = (plan.recurrence->erases ? 2 : 1) * keys * width +
                      keys * as_double(std::max<Index>(1, plan.recurrence->log_decay.cols())) /
                          as_double(RecurrentKeys::chunk);
  const double jumps =
      plan.recurrence->erases ? RecurrentJumps::size_of(extents.keys, extents.d) : 0;
  // Doubles of a chunk in closed form: its rows a dozen times, and some squares.
  const double closed = double_size * as_double(RecurrentKeys::chunk) *
                        (12 * width + 6 * as_double(RecurrentKeys::chunk));
  return {.bound = float_size * (rows + jumps),
          .applied = float_size * as_double(extents.queries) * as_double(padded_width(extents.dv)) +
                     RecurrentStates::need(plan, extents.keys, extents.d, extents.dv) +
                     threads * closed + 2 * Padded::need(extents.keys, extents.dv)};
}

}  // namespace fovea
