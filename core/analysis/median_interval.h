// The interval that holds the median of all values that could be drawn, from some of them.
#pragma once

#include <optional>
#include <vector>

namespace fovea {

/// Contains the median of all possible values with a probability of 95 % or more: from the k-th
/// smallest to the k-th largest value, with the largest k that keeps 95 %. It assumes only that
/// values are drawn independently.
struct MedianInterval {
  double low = 0, high = 0;
};

/// `sorted` is ascending. Nothing for fewer than enough_samples values.
std::optional<MedianInterval> interval_of_median(const std::vector<double>& sorted);

}  // namespace fovea
