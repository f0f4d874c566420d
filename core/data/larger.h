#pragma once

#include <cmath>
#include <concepts>

namespace fovea {

/// The larger number, or NaN if either is NaN, which a comparison alone would lose.
template <std::floating_point T>
T larger_or_nan(T a, T b) {
  return a >= b || std::isnan(a) ? a : b;
}

}  // namespace fovea
