// An Operator is a Plan bound to one back end: the linear map V -> Z = P V, and any part of P.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "backend/profile.h"
#include "data/problem.h"
#include "plan/plan.h"

namespace fovea {

struct Output {
  Matrix z;  // [nq, dv]
  /// [nq] natural log of what each row is divided by: the row sum of w_ij exp(S_ij), or the plan's
  /// estimate of it; empty if the form has none.
  std::vector<float> lse;
};

/// How a rectangle of P becomes numbers: its entries, or one number for each pixel of a grid that
/// splits the rectangle evenly (data/pixels.h).
struct Pool {
  enum class Kind { none, max, mean };
  Kind kind = Kind::none;
  Index rows = 0, cols = 0;  // the grid; at most the rectangle's own size
  /// An estimate: in each row of pixels, one row of P, drawn uniformly with this seed, represents
  /// all. A mean is then unbiased, a max is a lower bound.
  std::optional<std::uint64_t> one_row = {};
  /// With `mean`, where the largest entry of each pixel goes, as `max` gives it; null if it is not
  /// wanted. Back ends may find both in one pass.
  Matrix* largest = nullptr;
};

/// The row that represents pixel row `pixel` of `rows`: the same for every operator.
Index drawn_row(IndexRange rows, const Pool& pool, Index pixel);

/// The head that a plan computes: its mask narrowed to the pairs that the plan selects, and rounded
/// if the plan rounds it.
Problem counted_in(const Plan& plan, Problem head);

/// The result of one pass over some rows of P.
struct RowsOutput {
  Output output;      // z [rows, dv], lse [rows]
  Matrix most, mean;  // P pooled over squares of `pixel` x `pixel` tokens, cut off at the ends
};

/// The difference of two entries p~ and p that an error map shows. The relative difference is 0 if
/// both are equal, else infinite if p is 0.
enum class Difference { signed_difference, absolute, squared, relative };

/// The k for which the recall of the top k keys is found, ascending.
inline constexpr std::array<Index, 3> top_counts{1, 8, 64};
using TopRecall = std::array<double, top_counts.size()>;

/// How one row of P~ differs from the row of P.
struct RowDifference {
  double error = 0, norm = 0;  // sums of (p~ - p)^2 and p^2
  double variation = 0;        // half the sum of |p~ - p|
  double kl = 0;           // sum of p log(p / p~) over p > 0; infinite if one of their p~ is not
                           // positive
  double reverse_kl = 0;   // sum of p~ log(p~ / p) over p~ > 0; infinite if one of their p is
                           // not positive; NaN if P~ has a negative entry
  double mass = 0;         // sum of p over the pairs to which P~ gives weight
  TopRecall top_recall{};  // share of the top k keys of P that are in those of P~; NaN where no
                           // entry of P is positive
};

/// Immutable and usable from one thread at a time.
class Operator {
 public:
  virtual ~Operator() = default;
  Operator(const Operator&) = delete;  // bound data points into plan and problem
  Operator& operator=(const Operator&) = delete;

  /// Z = P V. v is [nk, dv]; with dv = 0 only the row sums are found, and Z is [nq, 0]. Records its
  /// stages in the run's profile.
  Output apply(MatrixView v, Run& run) const;
  /// The same of the values of its problem, which the plan may have rounded.
  Output apply(Run& run) const { return apply(problem_.v, run); }

  /// P over rows x cols (within [0, nq) and [0, nk)): [rows, cols], or [pool.rows, pool.cols]
  /// pooled.
  Matrix tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const;
  Matrix tile(IndexRange rows, IndexRange cols, Run& run) const {
    return tile(rows, cols, {}, run);
  }

  /// Whether apply_rows can be called. A part of the rows then costs no more than its share of the
  /// whole.
  bool has_rows() const { return do_has_rows(); }
  /// Some rows of P V, and P pooled in the same pass to squares that begin at multiples of `pixel`.
  /// `rows` begins at a multiple of `pixel`, and ends at one or at nq. Only if has_rows().
  RowsOutput apply_rows(MatrixView v, IndexRange rows, Index pixel, Run& run) const;

  /// P~ - P over rows x cols, pooled; this operator is P~, and max is the entry of largest
  /// magnitude with its sign. Nothing if the back end cannot compare the two on its device; the
  /// caller then compares tiles of both.
  std::optional<Matrix> difference(const Operator& exact, IndexRange rows, IndexRange cols,
                                   Pool pool, Difference kind, Run& run) const {
    return do_difference(exact, rows, cols, pool, kind, run);
  }
  /// Compares whole rows, one RowDifference each; nothing as above.
  std::optional<std::vector<RowDifference>> compare_rows(const Operator& exact, IndexRange rows,
                                                         Run& run) const {
    return do_compare_rows(exact, rows, run);
  }

  const Plan& plan() const { return *plan_; }
  const std::shared_ptr<const Plan>& shared_plan() const { return plan_; }
  const Problem& problem() const { return problem_; }

 protected:
  Operator(std::shared_ptr<const Plan> plan, Problem problem)
      : plan_(std::move(plan)), problem_(std::move(problem)) {}

 private:
  virtual Output do_apply(MatrixView v, Run& run) const = 0;
  virtual bool do_has_rows() const { return false; }
  virtual RowsOutput do_apply_rows(MatrixView, IndexRange, Index, Run&) const { return {}; }
  virtual Matrix do_tile(IndexRange rows, IndexRange cols, Pool pool, Run& run) const = 0;
  virtual std::optional<Matrix> do_difference(const Operator&, IndexRange, IndexRange, Pool,
                                              Difference, Run&) const {
    return std::nullopt;
  }
  virtual std::optional<std::vector<RowDifference>> do_compare_rows(const Operator&, IndexRange,
                                                                    Run&) const {
    return std::nullopt;
  }

  std::shared_ptr<const Plan> plan_;
  Problem problem_;
};

}  // namespace fovea
