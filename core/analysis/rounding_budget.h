// The rounding budget of a row is the largest error of another program's result that rounding
// explains. A larger error is a mistake, or comes from arithmetic of fewer bits than the type has.
#pragma once

#include <vector>

#include "analysis/diagnostics.h"
#include "data/head_tensor.h"
#include "data/problem.h"

namespace fovea {

/// Largest relative error of rounding to the type: 2^-8 of bf16, 2^-11 of fp16.
double unit_roundoff(ElementType type);

/// The bound of one row, for sums of weights over other pairs, too.
class RoundingBudget {
 public:
  RoundingBudget(const Problem& problem, ElementType type);
  /// `spread`: sum_j p_ij |v_j|; `norm`: |z_i|.
  double operator()(Index i, double spread, double norm) const;
  /// The relative error of a weight of the row: what `spread` is multiplied by.
  double of_weights(Index i) const;
  /// What rounding usually does, where the bound is what it can do at most: a sum over nk keys errs
  /// by the square root of nk roundings, as their signs are random, and a logit by one of |q_i|
  /// |k_j|. In 16 bits both are nearly the same, as the roundings of weights and output have most
  /// of them.
  double usual(Index i, double spread, double norm) const;

 private:
  /// The relative error of a weight, from the numbers of roundings of its logit and of the sum.
  double relative(Index i, double of_logit, double of_sum) const;

  const Problem& problem_;
  ElementType type_;
  double longest_key_ = 0, of_smallest_ = 0;
};

/// [nq] bounds of |z~_i - z_i| if z~ is rounded to `type`, weights are rounded to `type` before and
/// after their sum, and logits and sums are in fp32 on both sides:
///   (2 u + 4 delta_i + 2 nk 2^-24) sum_j p_ij |v_j| + u |z_i| + s (sum_j |v_j| + sqrt(dv))
///     + 2 nk sqrt(dv) 2^-149,
/// delta_i = d 2^-24 scale |q_i| max_j |k_j|, the error of a logit, s being half the distance of
/// the smallest numbers of the type: 2^-25 of fp16. The last term allows for products below the
/// normal numbers of fp32.
std::vector<float> rounding_budget(const Operator& exact, const Output& exact_output,
                                   ElementType type, Run& run);
/// The same bounds, and the numbers of RoundingBudget::usual(), from one pass over P.
struct RoundingOfRows {
  std::vector<float> most, usual;  // [nq]
};
RoundingOfRows rounding_of_rows(const Operator& exact, const Output& exact_output, ElementType type,
                                Run& run);

/// Figures of an ImportedPlan: rows beyond the budget, the largest share of the budget that a row
/// takes, and, if the file holds row sums, their distance from exact ones.
std::vector<Diagnostic> imported_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
