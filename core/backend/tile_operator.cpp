#include "backend/tile_operator.h"

#include <algorithm>
#include <numbers>
#include <numeric>

#include "backend/bound_tiles.h"
#include "backend/dense_sweep.h"
#include "backend/padded.h"
#include "backend/row_estimates.h"
#include "backend/row_sums.h"
#include "backend/tile_entries.h"
#include "backend/tile_sweep.h"
#include "data/pixels.h"

namespace fovea {
namespace {

/// Bytes of a strip of queries, the values of a step, and the levels of a span.
double need_of_thread(const Extents& extents, int query_top, int key_top) {
  const double width = as_double(padded_width(extents.d)),
               value_width = as_double(padded_width(extents.dv));
  const double strip = float_size * (isa::max_lanes * (isa::max_keys + width) +
                                     isa::max_keys * (width + 2 * value_width));
  const double span = as_double(BoundTiles::span_tokens),
               around = span + 2 * as_double(BoundTiles::span_margin);
  return 1.2 * strip + (query_top > 0 ? float_size * span * (value_width + 2 + width) : 0) +
         (key_top > 0 ? float_size * around * (width + value_width) : 0);
}

class TileOperator final : public Operator {
 public:
  TileOperator(std::shared_ptr<const Plan> plan, const Problem& problem, const isa::Loops& loops,
               std::shared_ptr<Workers> workers, Run& run)
      : Operator(std::move(plan), problem),
        workers_(std::move(workers)),
        tiles_(bind(*this, loops, *workers_, run)),
        sums_(this->plan().queries()) {
    if (estimated()) sums_.keep_all(log2_row_sums(this->plan()));
  }

 private:
  static BoundTiles bind(const Operator& self, const isa::Loops& loops, Workers& workers,
                         Run& run) {
    const auto stage = run.profile.stage("upload");
    return BoundTiles(self.plan(), self.problem(), loops, workers, run.stop);
  }

  Output do_apply(MatrixView v, Run& run) const override {
    const Padded values(v);
    TileSweep::Result result = TileSweep(tiles_, values.view, *workers_, run).attend();
    if (estimated()) divide_by(sums_.log2(), result.z, result.log2_sums);
    Output out{values.is_copy() ? Matrix::copy_of(result.z) : std::move(result.z),
               in_natural_units(result.log2_sums)};
    sums_.keep_all(std::move(result.log2_sums));
    return out;
  }

  bool estimated() const { return !std::get<TilePlan>(plan().form).row_estimates.empty(); }

  bool do_has_rows() const override { return tiles_.dense(); }

  RowsOutput do_apply_rows(MatrixView v, IndexRange rows, Index pixel, Run& run) const override {
    const Padded values(v);
    const std::vector<std::int32_t> queries = tokens_in(rows);
    std::vector<Index> map_rows = bounds(rows, pixel);
    for (Index& row : map_rows) row -= rows.begin;
    const std::vector<Index> map_cols = bounds({0, plan().keys()}, pixel);
    const DenseSweep::Request request{queries, values.view, map_rows, map_cols};
    const auto stage = run.profile.stage("attend");
    DenseSweep::Found found = DenseSweep(tiles_, request, *workers_, run).attend();
    sums_.keep(queries, found.log2_sums);
    return {{values.is_copy() ? Matrix::copy_of(found.z) : std::move(found.z),
             in_natural_units(found.log2_sums)},
            std::move(found.most),
            std::move(found.mean)};
  }

  Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const override {
    if (tiles_.dense() && pool.one_row && pool.kind != Pool::Kind::none &&
        pool.cols < cols.size() && sums_.mostly_unknown())
      return drawn_pixels(rows, cols, pool, run);
    const std::vector<std::int32_t> queries = pool.one_row ? drawn_in(rows, pool) : tokens_in(rows);
    // In proportion to the pairs of query and key, as if all of them were evaluated.
    const double missing = sums_.unknown_of(queries) * plan().keys(),
                 own = std::ssize(queries) * cols.size();
    Run summing = run.part(0, missing / (missing + own)),
        evaluating = run.part(missing / (missing + own), 1);
    sums_.find(tiles_, queries, *workers_, summing);
    const auto stage = run.profile.stage("entries");
    tiles_.complete(*workers_, run.stop);
    return tile_entries(tiles_, rows, cols, pool, sums_.log2(), *workers_, evaluating);
  }

  // Sums and pixels in one pass, for rows whose sums are mostly not known.
  Matrix drawn_pixels(IndexRange rows, IndexRange cols, const Pool& pool, Run& run) const {
    const std::vector<std::int32_t> queries = drawn_in(rows, pool);
    std::vector<Index> map_rows(queries.size() + 1), map_cols;
    std::iota(map_rows.begin(), map_rows.end(), Index{0});
    for (Index c = 0; c <= pool.cols; ++c)
      map_cols.push_back(cols.begin + pixel_begin(c, cols.size(), pool.cols));
    const auto stage = run.profile.stage("entries");
    const DenseSweep::Request request{
        .queries = queries, .map_rows = map_rows, .map_cols = map_cols};
    DenseSweep::Found found = DenseSweep(tiles_, request, *workers_, run).attend();
    sums_.keep(queries, found.log2_sums);
    if (pool.kind == Pool::Kind::max) return std::move(found.most);
    if (pool.largest) *pool.largest = std::move(found.most);
    return std::move(found.mean);
  }

  static std::vector<std::int32_t> drawn_in(IndexRange rows, const Pool& pool) {
    std::vector<std::int32_t> queries;
    for (Index p = 0; p < pool.rows; ++p)
      queries.push_back(static_cast<std::int32_t>(drawn_row(rows, pool, p)));
    return queries;
  }

  static std::vector<std::int32_t> tokens_in(IndexRange rows) {
    std::vector<std::int32_t> tokens(rows.size());
    std::iota(tokens.begin(), tokens.end(), static_cast<std::int32_t>(rows.begin));
    return tokens;
  }

  // begin, begin + step, ..., end.
  static std::vector<Index> bounds(IndexRange range, Index step) {
    std::vector<Index> all;
    for (Index i = range.begin; i < range.end; i += step) all.push_back(i);
    all.push_back(range.end);
    return all;
  }

  static std::vector<float> in_natural_units(std::vector<float> log2_sums) {
    for (float& sum : log2_sums) sum *= std::numbers::ln2_v<float>;
    return log2_sums;
  }

  std::shared_ptr<Workers> workers_;
  // Completed when first needed. (An Operator is used from one thread at a time.)
  mutable BoundTiles tiles_;
  mutable RowSums sums_;
};

}  // namespace

std::unique_ptr<Operator> make_tile_operator(std::shared_ptr<const Plan> plan,
                                             const Problem& problem, const isa::Loops& loops,
                                             std::shared_ptr<Workers> workers, Run& run) {
  return std::make_unique<TileOperator>(std::move(plan), problem, loops, std::move(workers), run);
}

MemoryNeed operator_need(const TilePlan& plan, const Extents& extents, int threads) {
  int query_top = 0, key_top = 0;
  for (const Pass& pass : plan.passes) {
    query_top = std::max(query_top, pass.query_level);
    key_top = std::max(key_top, pass.key_level);
  }
  const double queries = as_double(extents.queries),
               rows = queries + clusters_above(extents.queries, query_top),
               value_width = as_double(padded_width(extents.dv));
  return {.bound = BoundTiles::need(plan, extents) + 2 * float_size * queries,
          .applied = float_size * (rows * (value_width + 2) + 2 * queries +
                                   clusters_above(extents.keys, key_top) * value_width) +
                     2 * Padded::need(std::max(extents.queries, extents.keys), extents.dv) +
                     threads * need_of_thread(extents, query_top, key_top)};
}

}  // namespace fovea
