#include "analysis/estimate.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace fovea {

Estimate ratio_of_sums(const RowBands& rows, std::span<const double> above,
                       std::span<const double> below) {
  double numerator = 0, denominator = 0;
  for (std::size_t i = 0; i < above.size(); ++i) {
    numerator += above[i] / rows.chance(i);
    denominator += below[i] / rows.chance(i);
  }
  const double ratio = numerator / denominator, count = static_cast<double>(above.size());
  if (!rows.sampled() || above.size() < 2 || !std::isfinite(ratio)) return {ratio, 0};
  // What a row says of the ratio, 0 in the mean, is weighted by the chance that it is left out.
  double left_out = 0, mean = 0, squares = 0;
  const auto residual = [&](std::size_t i) {
    return (above[i] - ratio * below[i]) / rows.chance(i);
  };
  for (std::size_t i = 0; i < above.size(); ++i) {
    left_out += 1 - rows.chance(i);
    mean += (1 - rows.chance(i)) * residual(i);
  }
  if (left_out <= 0) return {ratio, 0};
  mean /= left_out;
  for (std::size_t i = 0; i < above.size(); ++i) {
    const double off = residual(i) - mean;
    squares += (1 - rows.chance(i)) * off * off;
  }
  return {ratio, std::sqrt(squares * count / (count - 1)) / denominator};
}

Estimate mean_of(const RowBands& rows, std::span<const double> values) {
  return ratio_of_sums(rows, values, std::vector<double>(values.size(), 1.0));
}

Estimate root_of(Estimate square) {
  if (!(square.value > 0)) return square;
  const double root = std::sqrt(square.value);
  return {root, square.standard_error / (2 * root)};
}

double not_exceeded_by(const RowBands& rows, std::span<const double> values, double q) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  double all = 0, so_far = 0;
  for (const std::size_t i : order) all += 1 / rows.chance(i);
  constexpr double rounding = 1e-12;
  for (const std::size_t i : order)
    if ((so_far += 1 / rows.chance(i)) >= q * all * (1 - rounding)) return values[i];
  return values[order.back()];
}

}  // namespace fovea
