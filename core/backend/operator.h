// An Operator is a Plan resident on one back end: the linear map V -> Z = P V, and any part of P.
#pragma once

#include <memory>
#include <vector>

#include "backend/profile.h"
#include "data/problem.h"
#include "plan/plan.h"

namespace fovea {

struct Output {
  Matrix z;                // [n, dv]
  std::vector<float> lse;  // [n] log of the row sum of w_ij exp(S_ij), natural; empty for NodePlan
};

/// How a rectangle of P becomes numbers: its entries, or one number per pixel of a grid that splits
/// the rectangle evenly (pixel r covers rows [r R / rows, (r+1) R / rows)).
struct Pool {
  enum class Kind { none, max, mean };
  Kind kind = Kind::none;
  Index rows = 0, cols = 0;  // the grid; at most the rectangle's own size
};

/// Immutable and usable from one thread at a time.
class Operator {
 public:
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;  // what a back end binds points into plan and problem
  Operator& operator=(const Operator&) = delete;

  /// Z = P V. v is [n, dv], any dv >= 1. Records its stages in the run's profile.
  Output apply(MatrixView v, Run& run) const;

  /// P over rows x cols (within [0, n)): [rows, cols], or [pool.rows, pool.cols] pooled.
  Matrix tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const;
  Matrix tile(IndexRange rows, IndexRange cols, Run& run) const {
    return tile(rows, cols, {}, run);
  }

  const Plan& plan() const { return *plan_; }
  const std::shared_ptr<const Plan>& shared_plan() const { return plan_; }
  const Problem& problem() const { return problem_; }

 protected:
  Operator(std::shared_ptr<const Plan> plan, Problem problem)
      : plan_(std::move(plan)), problem_(std::move(problem)) {}

 private:
  virtual Output do_apply(MatrixView v, Run& run) const = 0;
  virtual Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const = 0;

  std::shared_ptr<const Plan> plan_;
  Problem problem_;
};

}  // namespace fovea
