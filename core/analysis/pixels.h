// Arithmetic of a MapPyramid's pixels.
#pragma once

#include <cmath>

#include "data/matrix.h"

namespace fovea {

/// Of two entries, or of two maxima, that of larger magnitude: NaN is shown.
inline float larger(float a, float b) {
  return std::abs(b) > std::abs(a) || std::isnan(b) ? b : a;
}

/// Pixels that cover so many tokens; the last may stand over their end.
inline Index pixels_over(Index tokens, Index pixel) {
  return (tokens + pixel - 1) / pixel;
}

}  // namespace fovea
