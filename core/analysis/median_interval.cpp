#include "analysis/median_interval.h"

#include <cmath>

namespace fovea {
namespace {

/// The largest k for which fewer than k of `count` coin tosses are heads with a probability of at
/// most 2.5 %; 0 if there is none.
std::size_t place_of_interval(std::size_t count) {
  constexpr double outside = 0.025, deviations = 1.96;
  constexpr std::size_t most_summed =
      500;  // above it the normal distribution gives the same k or one less
  const auto n = static_cast<double>(count);
  if (count > most_summed) return static_cast<std::size_t>((n - deviations * std::sqrt(n)) / 2);
  std::size_t place = 0;
  double term = std::pow(0.5, n), below = term;
  while (below <= outside) {
    ++place;
    term *= static_cast<double>(count - place + 1) / static_cast<double>(place);
    below += term;
  }
  return place;
}

}  // namespace

std::optional<MedianInterval> interval_of_median(const std::vector<double>& sorted) {
  const std::size_t place = place_of_interval(sorted.size());
  if (place == 0) return std::nullopt;
  return MedianInterval{sorted[place - 1], sorted[sorted.size() - place]};
}

}  // namespace fovea
