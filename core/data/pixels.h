// Pixels are the squares in which tokens are shown: a grid that splits tokens evenly, or squares of
// a fixed number of tokens a side.
#pragma once

#include <cmath>

#include "data/matrix.h"

namespace fovea {

/// Where a pixel of an even grid begins: `pixels` of them split `size` tokens, pixels <= size. The
/// pixel after the last begins at `size`.
constexpr Index pixel_begin(Index pixel, Index size, Index pixels) {
  return pixel * size / pixels;
}

/// How many tokens a pixel of an even grid covers: at least one.
constexpr Index pixel_extent(Index pixel, Index size, Index pixels) {
  return pixel_begin(pixel + 1, size, pixels) - pixel_begin(pixel, size, pixels);
}

/// The pixel of an even grid that covers token `offset`.
constexpr Index pixel_of(Index offset, Index size, Index pixels) {
  return pixels == size ? offset : ((offset + 1) * pixels - 1) / size;
}

/// The tokens that a pixel of an even grid over `tokens` covers.
constexpr IndexRange pixel_tokens(Index pixel, IndexRange tokens, Index pixels) {
  const Index size = tokens.end - tokens.begin;
  return {tokens.begin + pixel_begin(pixel, size, pixels),
          tokens.begin + pixel_begin(pixel + 1, size, pixels)};
}

/// How many pixels of `pixel` tokens cover `tokens`; the last may extend beyond their end.
constexpr Index pixels_over(Index tokens, Index pixel) {
  return (tokens + pixel - 1) / pixel;
}

/// The larger in magnitude of two entries or two maxima; NaN if either is NaN, so that it is shown.
inline float larger(float a, float b) {
  return std::abs(b) > std::abs(a) || std::isnan(b) ? b : a;
}

}  // namespace fovea
