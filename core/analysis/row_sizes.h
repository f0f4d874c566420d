// Row sizes estimate the share of each row of P in the error of an approximation P̃, from outputs
// and log-sum-exps, which are known for all rows. Samples of rows are drawn by them.
#pragma once

#include <vector>

#include "analysis/metrics.h"

namespace fovea {

/// Smaller differences are taken for rounding of float sums: of the mass of a row, of log-sum-exps
/// and, relative to Z, of outputs.
constexpr double row_sum_rounding = 1e-5;

/// [queries] from 0 to 3: the sum of a row's shares of three sums over all rows, of squared
/// differences of the row sums of exp, of squared distances of z_i from the mean output, and of
/// squared output errors. For values v ~ N(0, I) the squared difference of a row's outputs is on
/// average proportional to the squared difference of its weights, and the square of its output to
/// ‖p‖². All sizes are 0 if nothing of this is known. `metrics` holds the errors of the outputs
/// already, if the head has values. `plan` is that of exact attention.
std::vector<double> row_sizes(const Metrics& metrics, const Output& approximate,
                              const Output& exact, const Plan& plan);

}  // namespace fovea
