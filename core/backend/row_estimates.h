// How back ends divide rows by a plan's estimates of their sums: a softmax first divides them by
// their own sums, and a factor makes up for it.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace fovea {

/// log2 of the estimates of a TilePlan that has them: [n].
std::vector<float> log2_row_sums(const Plan& plan);

/// Turns Z of a softmax into Z of the estimates: multiplies row i of z [n, dv] by 2^(log2_sums_i -
/// log2_estimates_i) and replaces the log2 sums by the estimates. A row without a key, whose sum is
/// 0, stays 0.
void divide_by(const std::vector<float>& log2_estimates, Matrix& z, std::vector<float>& log2_sums);

}  // namespace fovea
