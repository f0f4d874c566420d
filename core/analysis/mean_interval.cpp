#include "analysis/mean_interval.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

namespace fovea {
namespace {

/// The probability of |T| < t, by the finite sums of Abramowitz and Stegun, 26.7.3 and 26.7.4, with
/// θ = arctan(t / √degrees).
double chance_within(double t, Index degrees) {
  const double theta = std::atan(t / std::sqrt(degrees));
  const double cosine = std::cos(theta), sine = std::sin(theta);
  const bool odd = degrees % 2 == 1;
  double term = odd ? cosine : 1, sum = 0;
  for (Index k = odd ? 1 : 0; k <= degrees - 2; k += 2) {
    sum += term;
    term *= cosine * cosine * static_cast<double>(k + 1) / static_cast<double>(k + 2);
  }
  return odd ? 2 / std::numbers::pi * (theta + sine * sum) : sine * sum;
}

}  // namespace

double students_t(Index degrees) {
  constexpr double wanted = 0.95;
  constexpr int halvings = 60;
  double low = 1, high = 13;  // t of one degree is 12.7, of many degrees 1.96
  for (int i = 0; i < halvings; ++i) {
    const double middle = (low + high) / 2;
    (chance_within(middle, degrees) < wanted ? low : high) = middle;
  }
  return low;
}

MeanOverInputs mean_over_inputs(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  MeanOverInputs out{
      .mean = std::numeric_limits<double>::quiet_NaN(), .half = {}, .inputs = std::ssize(values)};
  if (values.empty()) return out;
  out.mean = std::accumulate(values.begin(), values.end(), 0.0) / count;
  if (values.size() < 2) return out;
  double squares = 0;
  for (const double value : values) squares += (value - out.mean) * (value - out.mean);
  out.half = students_t(out.inputs - 1) * std::sqrt(squares / (count - 1) / count);
  return out;
}

}  // namespace fovea
