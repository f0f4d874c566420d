// The rounding budget of a row is the largest error that rounding explains in what another program
// computed: an error beyond it is a mistake, or arithmetic of fewer bits than its type has.
#pragma once

#include <vector>

#include "analysis/diagnostics.h"
#include "data/head_tensor.h"

namespace fovea {

/// Largest relative error of rounding to the type: 2^-8 of bf16, 2^-11 of fp16.
double unit_roundoff(ElementType type);

/// [nq] bounds of |z~_i - z_i| where z~ is rounded to `type`, weights are rounded to `type` before
/// and after their sum, and logits and sums are of fp32 on both sides:
///   (2 u + 4 delta_i + 2 nk 2^-24) sum_j p_ij |v_j| + u |z_i| + s (sum_j |v_j| + sqrt(dv))
///     + 2 nk sqrt(dv) 2^-149,
///   delta_i = d 2^-24 scale |q_i| max_j |k_j|, the error of a logit,
/// s being half the distance of the smallest numbers of the type: 2^-25 of fp16. The last term is
/// that of products below the normal numbers of fp32.
std::vector<float> rounding_budget(const Operator& exact, const Output& exact_output,
                                   ElementType type, Run& run);

/// Figures of an ImportedPlan: rows beyond the budget, the largest share of it that a row takes,
/// and how far the row sums are from exact ones where the file holds them.
std::vector<Diagnostic> imported_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
