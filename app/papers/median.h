// The median of numbers: the middle one, or halfway between the two in the middle.
#pragma once

#include <algorithm>
#include <vector>

namespace fovea {

/// At least one number.
inline double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return (values[(values.size() - 1) / 2] + values[values.size() / 2]) / 2;
}

}  // namespace fovea
