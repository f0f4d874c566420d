#include "backend/operator.h"

#include <string>

#include "data/draw_purpose.h"
#include "data/memory.h"
#include "data/pixels.h"
#include "data/random.h"

namespace fovea {
namespace {

void check_values(MatrixView v, Index keys) {
  if (v.rows != keys)
    throw InputError("", "v is [" + std::to_string(v.rows) + "," + std::to_string(v.cols) +
                             "]; expected [" + std::to_string(keys) + ",dv]");
}

}  // namespace

Problem counted_in(const Plan& plan, Problem head) {
  if (plan.head_mask && plan.as<TilePlan>()) head.mask = plan.mask;
  if (plan.rounded) {
    head.q = plan.rounded->q;
    head.k = plan.rounded->k;
    head.v = plan.rounded->v;
    head.owner = plan.rounded;
  }
  return head;
}

Index drawn_row(IndexRange rows, const Pool& pool, Index pixel) {
  const IndexRange range = pixel_tokens(pixel, rows, pool.rows);
  Random random(pool.one_row.value_or(0), stream_of(DrawPurpose::row_of_pixel, range.begin));
  return range.begin + static_cast<Index>(random.below(range.size()));
}

// Back ends apply P to at least one column: to zeros if only the row sums are wanted.
Output Operator::apply(MatrixView v, Run& run) const {
  check_values(v, plan_->keys());
  if (v.cols == 0) {
    Output sums = apply(Matrix(v.rows, 1), run);
    return {Matrix(plan_->queries(), 0), std::move(sums.lse)};
  }
  run.check();
  Output out = do_apply(v, run);
  run.reached(1);
  return out;
}

RowsOutput Operator::apply_rows(MatrixView v, IndexRange rows, Index pixel, Run& run) const {
  check_values(v, plan_->keys());
  if (!has_rows()) throw UsageError("this operator has no rows by themselves");
  if (pixel < 1 || rows.begin < 0 || rows.begin % pixel != 0 || rows.begin >= rows.end ||
      rows.end > plan_->queries() || (rows.end % pixel != 0 && rows.end != plan_->queries()))
    throw UsageError("rows must lie within the queries, and begin and end with a pixel");
  if (v.cols == 0) {
    RowsOutput sums = apply_rows(Matrix(v.rows, 1), rows, pixel, run);
    sums.output.z = Matrix(rows.size(), 0);
    return sums;
  }
  run.check();
  RowsOutput out = do_apply_rows(v, rows, pixel, run);
  run.reached(1);
  return out;
}

Matrix Operator::tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const {
  const auto inside = [](IndexRange r, Index count) {
    return 0 <= r.begin && r.begin < r.end && r.end <= count;
  };
  if (!inside(rows, plan_->queries()) || !inside(cols, plan_->keys()))
    throw UsageError("a tile must lie within the queries and keys and not be empty");
  if (pool.kind == Pool::Kind::none) {
    pool.rows = rows.size();
    pool.cols = cols.size();
  }
  if (pool.rows < 1 || pool.cols < 1 || pool.rows > rows.size() || pool.cols > cols.size())
    throw UsageError("a pooled tile has between 1 and as many pixels as entries a side");
  require_memory(
      sizeof(float) * static_cast<double>(pool.rows) * static_cast<double>(pool.cols),
      "a matrix of " + std::to_string(pool.rows) + " x " + std::to_string(pool.cols) + " weights",
      "Fewer tokens or a smaller view need less");
  run.check();
  if (pool.kind != Pool::Kind::mean) pool.largest = nullptr;
  Matrix* const largest = pool.largest;
  if (largest) *largest = {};
  Matrix out = do_tile(rows, cols, pool, run);
  if (largest && largest->empty()) {  // the back end found the mean alone
    Run quiet = run.quiet();
    *largest = do_tile(rows, cols, {Pool::Kind::max, pool.rows, pool.cols, pool.one_row}, quiet);
  }
  run.reached(1);
  return out;
}

}  // namespace fovea
