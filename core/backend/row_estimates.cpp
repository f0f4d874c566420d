#include "backend/row_estimates.h"

#include <cmath>
#include <limits>
#include <numbers>

namespace fovea {

std::vector<float> log2_row_sums(const Plan& plan) {
  std::vector<float> out;
  for (const double log_sum : std::get<TilePlan>(plan.form).row_estimates.log_sums)
    out.push_back(static_cast<float>(log_sum * std::numbers::log2e));
  return out;
}

void divide_by(const std::vector<float>& log2_estimates, Matrix& z, std::vector<float>& log2_sums) {
  // The largest double, with which the product of any value but 0 is infinite in float. It is not
  // infinity, so that 0 stays 0.
  constexpr double most = std::numeric_limits<double>::max();
  for (Index i = 0; i < z.rows(); ++i) {
    const auto row = static_cast<std::size_t>(i);
    const double factor = std::min(most, std::exp2(static_cast<double>(log2_sums[row]) -
                                                   static_cast<double>(log2_estimates[row])));
    for (Index c = 0; c < z.cols(); ++c)
      z(i, c) = static_cast<float>(static_cast<double>(z(i, c)) * factor);
  }
  log2_sums = log2_estimates;
}

}  // namespace fovea
