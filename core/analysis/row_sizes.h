// Row sizes are what each row of P may have of the errors of an approximation P̃, as far as outputs
// and log-sum-exps tell, which are known of all rows: by them the rows of a sample are drawn.
#pragma once

#include <vector>

#include "analysis/metrics.h"

namespace fovea {

/// Of the sum of a row's weights in float, relative: at worst about n 2^-24, usually sqrt(n) 2^-24.
constexpr double row_sum_rounding = 1e-5;

/// [queries] 0 or more: what each row may have of ‖P̃ − P‖² and of ‖P‖². Of values v ~ N(0, I) the
/// square of the difference of a row's outputs is in the mean proportional to that of its weights,
/// and the square of its output to ‖p‖². `of_outputs`: with the errors of the outputs, where there
/// are values.
std::vector<double> row_sizes(const Metrics& of_outputs, const Output& approximate,
                              const Output& exact);

}  // namespace fovea
