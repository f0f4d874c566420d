// A TokenAxis maps the visible tokens [begin, end) of one axis to the pixels [from, to).
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "data/matrix.h"

namespace fovea::canvas {

/// Pixels a token takes on an axis from which on tokens are named, not only counted.
inline constexpr double cell_for_tokens = 7;

struct TokenAxis {
  double begin = 0, end = 1;
  float from = 0, to = 1;

  double cell() const { return (to - from) / (end - begin); }
  float pixel(double token) const { return static_cast<float>(from + (token - begin) * cell()); }
  double token(float pixel) const { return begin + (pixel - from) / cell(); }
};

/// Multiples of a power of two (block borders fall on them)
/// inside the axis, at least `spacing` pixels apart.
std::vector<Index> ticks(const TokenAxis& axis, double spacing);

/// The tokens' places in pixels, those that touch joined; ascending tokens, at most one span a
/// pixel.
std::vector<std::pair<float, float>> spans(const TokenAxis& axis, const std::vector<Index>& tokens);

/// Of so many pixels that split the tokens evenly (Pool) the one that a token is in.
Index pixel_of(IndexRange tokens, Index pixels, Index token);

/// Round numbers between low and high, about `count` of them.
std::vector<double> round_numbers(double low, double high, int count);

/// As a person writes it: "0.042", "-3", "1.2×10⁻⁴".
std::string number(double value, int digits = 3);
/// For tight places: ".042".
std::string compact_number(double value, int digits);

}  // namespace fovea::canvas
