#pragma once

#include <cmath>

namespace fovea {

/// The larger number, or NaN if one of them is: a comparison alone would forget it.
inline double larger_or_nan(double a, double b) {
  return a >= b || std::isnan(a) ? a : b;
}

}  // namespace fovea
