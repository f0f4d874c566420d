// The Euclidean length of a row.
#pragma once

#include <cmath>

#include "data/matrix.h"

namespace fovea {

/// Scales `count` entries to this length. Zeros stay zeros.
inline void set_length(float* begin, Index count, double length) {
  double square = 0;
  for (Index c = 0; c < count; ++c) square += double{begin[c]} * begin[c];
  if (square == 0) return;
  const auto factor = static_cast<float>(length / std::sqrt(square));
  for (Index c = 0; c < count; ++c) begin[c] *= factor;
}

}  // namespace fovea
