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
  const double ratio = numerator / denominator;
  if (!rows.sampled() || !std::isfinite(ratio)) return {ratio, 0};
  const auto residual = [&](std::size_t i) {
    return (above[i] - ratio * below[i]) / rows.chance(i);
  };
  // A row that is in every sample adds nothing to the variance: it has the weight 0 here.
  double weights = 0, mean = 0, squares = 0, drawn = 0;
  for (std::size_t i = 0; i < above.size(); ++i) {
    const double weight = 1 - rows.chance(i);
    weights += weight;
    mean += weight * residual(i);
    drawn += weight > 0;
  }
  if (drawn < 2) return {ratio, 0};
  mean /= weights;
  for (std::size_t i = 0; i < above.size(); ++i) {
    const double off = residual(i) - mean;
    squares += (1 - rows.chance(i)) * off * off;
  }
  return {ratio, std::sqrt(squares * drawn / (drawn - 1)) / denominator};
}

Estimate mean_of(const RowBands& rows, std::span<const double> values) {
  return ratio_of_sums(rows, values, std::vector<double>(values.size(), 1.0));
}

Estimate root_of(Estimate square) {
  if (!(square.value > 0)) return square;
  const double root = std::sqrt(square.value);
  return {root, square.standard_error / (2 * root)};
}

double quantile_of(const RowBands& rows, std::span<const double> values, double q) {
  for (const double value : values)
    if (std::isnan(value)) return value;  // it has no place in the order
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return values[i]; });
  double all = 0, so_far = 0;
  for (const std::size_t i : order) all += 1 / rows.chance(i);
  constexpr double rounding = 1e-12;  // of sums of at most 2^17 chances in double: below 2^-36
  for (const std::size_t i : order)
    if ((so_far += 1 / rows.chance(i)) >= q * all * (1 - rounding)) return values[i];
  return values[order.back()];
}

Estimate quantile_estimate(const RowBands& rows, std::span<const double> values, double q) {
  const double quantile = quantile_of(rows, values, q);
  if (!rows.sampled() || !std::isfinite(quantile)) return {quantile, 0};
  std::vector<double> up_to;
  for (const double value : values) up_to.push_back(value <= quantile);
  const double moved = mean_of(rows, up_to).standard_error;
  return {quantile, (quantile_of(rows, values, std::min(1.0, q + moved)) -
                     quantile_of(rows, values, std::max(0.0, q - moved))) /
                        2};
}

}  // namespace fovea
