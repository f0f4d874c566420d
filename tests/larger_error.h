#pragma once

#include <algorithm>
#include <cmath>

namespace fovea::test {

/// The larger magnitude; infinite where the error is NaN, which a comparison would lose.
inline double larger_error(double worst, double error) {
  return std::isnan(error) ? INFINITY : std::max(worst, std::abs(error));
}

}  // namespace fovea::test
