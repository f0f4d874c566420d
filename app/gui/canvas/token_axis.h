// A TokenAxis maps the visible tokens [begin, end) of one axis to the pixels [from, to).
#pragma once

#include <string>
#include <vector>

#include "data/matrix.h"

namespace fovea::canvas {

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

/// Round numbers between low and high, about `count` of them.
std::vector<double> round_numbers(double low, double high, int count);

/// As a person writes it: "0.042", "-3", "1.2×10⁻⁴".
std::string number(double value, int digits = 3);
/// For tight places: ".042".
std::string compact_number(double value, int digits);

}  // namespace fovea::canvas
