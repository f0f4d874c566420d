#include "backend/operator.h"

#include <string>

namespace fovea {

Output Operator::apply(MatrixView v, Run& run) const {
  if (v.rows != plan_->n || v.cols < 1)
    throw InputError("", "v is [" + std::to_string(v.rows) + "," + std::to_string(v.cols) + "]: [" +
                             std::to_string(plan_->n) + ",dv >= 1] expected");
  run.check();
  return do_apply(v, run);
}

Matrix Operator::tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const {
  const auto inside = [&](IndexRange r) {
    return 0 <= r.begin && r.begin < r.end && r.end <= plan_->n;
  };
  if (!inside(rows) || !inside(cols))
    throw UsageError("a tile must lie within [0, n) and not be empty");
  if (pool.kind == Pool::Kind::none) {
    pool.rows = rows.size();
    pool.cols = cols.size();
  }
  if (pool.rows < 1 || pool.cols < 1 || pool.rows > rows.size() || pool.cols > cols.size())
    throw UsageError("a pooled tile has between 1 and as many pixels as entries a side");
  run.check();
  return do_tile(rows, cols, pool, run);
}

}  // namespace fovea
