// Moves and scales a Viewport, which stays within the matrix and shows at least a few tokens. Its
// axes map tokens to pixels.
#pragma once

#include <utility>
#include <vector>

#include "session/session.h"

namespace fovea::canvas {

/// Moved by a number of tokens, as far as the matrix reaches.
Viewport panned(const Viewport& v, double rows, double cols, Lengths lengths);
/// Both axes become `factor` times as long about (row, col), which stays where it is: row_begin
/// becomes row + factor (row_begin - row), and so on.
Viewport zoomed(const Viewport& v, double factor, double row, double col, Lengths lengths);
/// Moved by the least that brings the pair into it.
Viewport showing(const Viewport& v, Index query, Index key, Lengths lengths);

/// Maps the visible tokens [begin, end) to the pixels [from, to).
struct TokenAxis {
  double begin = 0, end = 1;
  double from = 0, to = 1;

  double cell() const { return (to - from) / (end - begin); }
  double pixel(double token) const { return from + (token - begin) * cell(); }
  double token(double pixel) const { return begin + (pixel - from) / cell(); }
  /// The token of n that lies at a pixel, or nearest to it.
  Index token_at(double pixel, Index n) const;
};

/// The places of ascending tokens in pixels, with touching places joined: at most one span for each
/// pixel.
std::vector<std::pair<double, double>> spans(const TokenAxis& axis,
                                             const std::vector<Index>& tokens);

}  // namespace fovea::canvas
