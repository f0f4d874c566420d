#include "backend/feature_operator.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <numbers>
#include <numeric>

#include "backend/feature_strip.h"
#include "backend/feature_sums.h"
#include "backend/padded.h"
#include "data/larger.h"
#include "data/pixels.h"

namespace fovea {
namespace {

constexpr Index least_tokens = 1024, most_segments = 64;

// Tokens of a segment, whose sums one thread makes. It depends on n alone, so that no result
// depends on the number of threads.
Index segment_tokens(Index n) {
  return std::max(least_tokens,
                  (n / most_segments + least_tokens - 1) / least_tokens * least_tokens);
}

class FeatureOperator final : public Operator {
 public:
  FeatureOperator(std::shared_ptr<const Plan> plan, const Problem& problem, const isa::Loops& loops,
                  std::shared_ptr<Workers> workers, Run& run)
      : Operator(std::move(plan), problem),
        loops_(loops),
        workers_(std::move(workers)),
        rows_(make_rows(*this, loops, run)),
        segment_(segment_tokens(n())) {}

 private:
  static FeatureRows make_rows(const Operator& self, const isa::Loops& loops, Run& run) {
    const auto stage = run.profile.stage("upload");
    return FeatureRows(std::get<FeaturePlan>(self.plan().form), self.problem(), loops);
  }
  Index n() const { return plan().lengths.n(); }
  Index segments() const { return (n() + segment_ - 1) / segment_; }
  IndexRange tokens_of(Index segment) const {
    return {segment * segment_, std::min((segment + 1) * segment_, n())};
  }

  Output do_apply(MatrixView v, Run& run) const override {
    const Padded values(v);
    Output out = attend(values.view, values.width(), run);
    if (values.is_copy()) out.z = Matrix::copy_of({out.z.data(), n(), v.cols, out.z.stride()});
    return out;
  }

  // With values of width 0 it finds the sums of the rows alone.
  Output attend(MatrixView v, Index width, Run& run) const {
    std::vector<FeatureSums> sums = key_sums(v, width, run);
    Output out{Matrix(n(), width), std::vector<float>(n())};
    std::vector<float> log2_sums(n());
    const auto stage = run.profile.stage("attend");
    if (plan().causal)
      attend_causal(sums, v, width, out, log2_sums, run);
    else
      attend_all(sums.back(), width, out, log2_sums, run);
    for (Index i = 0; i < n(); ++i) {
      const auto at = static_cast<std::size_t>(i);
      out.lse[at] = static_cast<float>(std::numbers::ln2 *
                                       (static_cast<double>(out.lse[at]) + rows_.log2_factor(i)));
    }
    log2_sums_ = std::move(log2_sums);
    return out;
  }

  // The sums over the segments before each one, and at the end those over all.
  std::vector<FeatureSums> key_sums(MatrixView v, Index width, Run& run) const {
    const auto stage = run.profile.stage("key sums");
    std::vector<FeatureSums> sums;
    for (Index g = 0; g <= segments(); ++g) sums.emplace_back(rows_.padded(), width);
    workers_->loop(segments() * rows_.chunks(), run.stop, [&](Index turn, int) {
      alignas(64) float s[isa::max_keys * FeatureRows::chunk];
      const Index segment = turn / rows_.chunks();
      sums[static_cast<std::size_t>(segment) + 1].add(
          rows_, tokens_of(segment), static_cast<int>(turn % rows_.chunks()), v, loops_, s);
    });
    for (std::size_t g = 1; g < sums.size(); ++g) {
      FeatureSums before = sums[g - 1];
      before.add(sums[g]);
      sums[g] = std::move(before);
    }
    return sums;
  }

  void attend_all(const FeatureSums& sums, Index width, Output& out, std::vector<float>& log2_sums,
                  Run& run) const {
    std::vector<float> log2_sum;
    Matrix mean(rows_.padded(), width);
    sums.means(log2_sum, mean);
    std::vector<FeatureStrip> strips(workers_->threads(), FeatureStrip(rows_, loops_));
    constexpr Index most = FeatureStrip::most;
    const Index pieces = (n() + most - 1) / most;
    workers_->loop(pieces, run.stop, [&](Index turn, int worker) {
      const IndexRange queries{turn * most, std::min((turn + 1) * most, n())};
      const std::vector<Index> tokens = list(queries);
      FeatureStrip& strip = strips[worker];
      strip.begin(tokens);
      strip.attend(log2_sum, mean, out.z, queries.begin);
      finish(strip, queries, out, log2_sums);
      if (worker == 0) run.reached(static_cast<double>(turn) / static_cast<double>(pieces));
    });
  }

  // Goes piece by piece: queries attend the features of all keys before their piece, and the keys
  // of the piece itself.
  void attend_causal(std::vector<FeatureSums>& sums, MatrixView v, Index width, Output& out,
                     std::vector<float>& log2_sums, Run& run) const {
    std::vector<FeatureStrip> strips(workers_->threads(), FeatureStrip(rows_, loops_));
    workers_->loop(segments(), run.stop, [&](Index segment, int worker) {
      alignas(64) float s[isa::max_keys * FeatureRows::chunk];
      FeatureStrip& strip = strips[worker];
      FeatureSums& before = sums[segment];
      std::vector<float> log2_sum;
      Matrix mean(rows_.padded(), width);
      const IndexRange all = tokens_of(segment);
      for (Index begin = all.begin; begin < all.end; begin += FeatureStrip::most_causal) {
        if (run.stop.stop_requested()) throw Cancelled();
        const IndexRange piece{begin, std::min<Index>(begin + FeatureStrip::most_causal, all.end)};
        const std::vector<Index> tokens = list(piece);
        strip.begin(tokens);
        before.means(log2_sum, mean);
        strip.attend(log2_sum, mean, out.z, begin);
        strip.attend_keys(piece, v, out.z, begin);
        finish(strip, piece, out, log2_sums);
        for (int c = 0; c < rows_.chunks(); ++c) before.add(rows_, piece, c, v, loops_, s);
      }
      if (worker == 0) run.reached(static_cast<double>(segment) / static_cast<double>(segments()));
    });
  }

  // Until its factor is known, out.lse is the log2 of the sum without it.
  static void finish(const FeatureStrip& strip, IndexRange queries, Output& out,
                     std::vector<float>& log2_sums) {
    strip.divide(out.z, queries.begin);
    for (Index i = queries.begin; i < queries.end; ++i) {
      const int lane = static_cast<int>(i - queries.begin);
      log2_sums[i] = strip.log2_sum(lane);
      out.lse[i] = strip.log2_sum(lane) + strip.log2_largest(lane);
    }
  }

  static std::vector<Index> list(IndexRange tokens) {
    std::vector<Index> all(tokens.size());
    std::iota(all.begin(), all.end(), tokens.begin);
    return all;
  }

  // ---- Entries of P -----------------------------------------------------------------------------

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    if (log2_sums_.empty()) attend({nullptr, n(), 0, 0}, 0, run);
    const auto stage = run.profile.stage("entries");
    Matrix out(pool.rows, pool.cols);
    if (pool.largest) *pool.largest = Matrix(pool.rows, pool.cols);
    std::vector<FeatureStrip> strips(workers_->threads(), FeatureStrip(rows_, loops_));
    // For single entries many rows go through the keys together.
    const bool pooled = pool.kind != Pool::Kind::none;
    const Index together = pooled ? 1 : FeatureStrip::most;
    const Index turns = (pool.rows + together - 1) / together;
    workers_->loop(turns, run.stop, [&](Index turn, int worker) {
      FeatureStrip& strip = strips[worker];
      if (pooled)
        pool_row(turn, rows, cols, pool, strip, out, run);
      else
        copy_rows({turn * together, std::min((turn + 1) * together, pool.rows)}, rows, cols, strip,
                  out, run);
      if (worker == 0) run.reached(static_cast<double>(turn) / static_cast<double>(turns));
    });
    return out;
  }

  // use(column, key, s): the entries s[lane] of each key of `cols`.
  template <class Use>
  void for_entries(const std::vector<Index>& queries, IndexRange cols, FeatureStrip& strip,
                   Run& run, Use use) const {
    alignas(64) float s[FeatureRows::chunk * FeatureStrip::most];
    std::vector<float> sums;
    for (const Index i : queries) sums.push_back(log2_sums_[i]);
    strip.begin(queries);
    const bool causal = plan().causal;
    const IndexRange some{cols.begin, causal ? std::min(cols.end, queries.back() + 1) : cols.end};
    for (Index block = cols.begin / FeatureRows::chunk; block * FeatureRows::chunk < some.end;
         ++block) {
      if (run.stop.stop_requested()) throw Cancelled();
      strip.entries(block, sums, causal, s);
      const IndexRange keys = strip.block_tokens(block), its = keys.intersected(some);
      for (Index j = its.begin; j < its.end; ++j)
        use(j - cols.begin, s + (j - keys.begin) * strip.lanes());
    }
  }

  void copy_rows(IndexRange part, IndexRange rows, IndexRange cols, FeatureStrip& strip,
                 Matrix& out, Run& run) const {
    const std::vector<Index> queries = list({rows.begin + part.begin, rows.begin + part.end});
    for_entries(queries, cols, strip, run, [&](Index column, const float* s) {
      for (Index i = 0; i < part.size(); ++i) out(part.begin + i, column) = s[i];
    });
  }

  void pool_row(Index pixel, IndexRange rows, IndexRange cols, const Pool& pool,
                FeatureStrip& strip, Matrix& out, Run& run) const {
    std::vector<Index> queries = list(pixel_tokens(pixel, rows, pool.rows));
    if (pool.one_row) queries = {drawn_row(rows, pool, pixel)};
    std::vector<double> sum(pool.cols);
    for (std::size_t begin = 0; begin < queries.size(); begin += FeatureStrip::most) {
      const std::size_t end = std::min(begin + FeatureStrip::most, queries.size());
      const std::vector<Index> some(queries.begin() + static_cast<std::ptrdiff_t>(begin),
                                    queries.begin() + static_cast<std::ptrdiff_t>(end));
      for_entries(some, cols, strip, run, [&](Index column, const float* s) {
        const Index c = pixel_of(column, cols.size(), pool.cols);
        for (std::size_t i = 0; i < some.size(); ++i) {
          sum[c] += static_cast<double>(s[i]);
          out(pixel, c) = larger_or_nan(out(pixel, c), s[i]);  // no entry is negative
        }
      });
    }
    if (pool.kind == Pool::Kind::max) return;
    if (pool.largest) std::copy_n(out.row(pixel), pool.cols, pool.largest->row(pixel));
    for (Index c = 0; c < pool.cols; ++c)
      out(pixel, c) =
          static_cast<float>(sum[c] / static_cast<double>(std::ssize(queries) *
                                                          pixel_extent(c, cols.size(), pool.cols)));
  }

  const isa::Loops& loops_;
  std::shared_ptr<Workers> workers_;
  const FeatureRows rows_;
  const Index segment_;
  // [n] log2 of the sum that each row is divided by, without the factor of its query; empty means
  // not known yet. (An Operator is used from one thread at a time.)
  mutable std::vector<float> log2_sums_;
};

}  // namespace

std::unique_ptr<Operator> make_feature_operator(std::shared_ptr<const Plan> plan,
                                                const Problem& problem, const isa::Loops& loops,
                                                std::shared_ptr<Workers> workers, Run& run) {
  return std::make_unique<FeatureOperator>(std::move(plan), problem, loops, std::move(workers),
                                           run);
}

MemoryNeed operator_need(const FeaturePlan& plan, const Extents& extents, int threads) {
  constexpr Index chunk = FeatureRows::chunk;
  const double features = as_double(chunk * (1 + (plan.features(extents.d) - 1) / chunk)),
               keys = as_double(extents.keys), value_width = as_double(padded_width(extents.dv));
  const double segments = std::min(as_double(most_segments), 1 + keys / as_double(least_tokens)),
               sums = features * (value_width + 2),
               strip = features * 2 * (FeatureStrip::most + isa::max_keys) +
                       as_double((isa::max_keys + chunk) * FeatureStrip::most);
  return {.bound = float_size * (features * as_double(extents.d) + keys),
          .applied = float_size *
                         (sums * (segments + 3 + threads) +
                          as_double(extents.queries) * (value_width + 3) + (threads + 1) * strip) +
                     2 * Padded::need(extents.keys, extents.dv)};
}

}  // namespace fovea
