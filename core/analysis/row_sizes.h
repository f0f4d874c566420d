// Row sizes say how much each row of P may have of the error of an approximation P̃, as far as
// outputs and log-sum-exps tell, which are known of all rows. Samples of rows are drawn by them.
#pragma once

#include <vector>

#include "analysis/metrics.h"

namespace fovea {

/// Differences below it are taken for rounding of float sums: of the mass of a row, of log-sum-exps
/// and, relative to Z, of outputs.
constexpr double row_sum_rounding = 1e-5;

/// [queries] from 0 to 3: the sum of a row's shares of three sums over all rows, of squared
/// differences of the row sums of exp, of squared distances of z_i from the mean output, and of
/// squared output errors. Of values v ~ N(0, I) the square of the difference of a row's outputs is
/// in the mean proportional to that of its weights, and the square of its output to ‖p‖². All are 0
/// where nothing of this is known. `metrics`: the errors of the outputs are in it already, if the
/// head has values. `plan`: of exact attention.
std::vector<double> row_sizes(const Metrics& metrics, const Output& approximate,
                              const Output& exact, const Plan& plan);

}  // namespace fovea
