// A TokenAxis maps the visible tokens [begin, end) of one axis to the pixels [from, to).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "data/matrix.h"

namespace fovea::canvas {

struct TokenAxis {
  double begin = 0, end = 1;
  double from = 0, to = 1;

  double cell() const { return (to - from) / (end - begin); }
  double pixel(double token) const { return static_cast<double>(from + (token - begin) * cell()); }
  double token(double pixel) const { return begin + (pixel - from) / cell(); }
};

/// The tokens' places in pixels, those that touch joined; ascending tokens, at most one span a
/// pixel.
std::vector<std::pair<double, double>> spans(const TokenAxis& axis,
                                             const std::vector<Index>& tokens);

/// Of so many pixels that split the tokens evenly (Pool) the one that a token is in.
Index pixel_of(IndexRange tokens, Index pixels, Index token);

}  // namespace fovea::canvas
