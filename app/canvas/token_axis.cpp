#include "canvas/token_axis.h"

#include <algorithm>
#include <cmath>

namespace fovea::canvas {
std::vector<std::pair<double, double>> spans(const TokenAxis& axis,
                                             const std::vector<Index>& tokens) {
  std::vector<std::pair<double, double>> out;
  auto token = std::ranges::lower_bound(tokens, static_cast<Index>(std::floor(axis.begin)));
  for (; token != tokens.end() && static_cast<double>(*token) < axis.end; ++token) {
    const double a = axis.pixel(static_cast<double>(*token));
    const double b = std::max(a + 1, axis.pixel(static_cast<double>(*token + 1)));
    if (!out.empty() && a < out.back().second + 0.5)
      out.back().second = b;
    else
      out.emplace_back(a, b);
  }
  return out;
}

/// Pixel p begins at p size / pixels, rounded down: the last that does so at the token or before.
Index pixel_of(IndexRange tokens, Index pixels, Index token) {
  return ((token - tokens.begin + 1) * pixels - 1) / tokens.size();
}

}  // namespace fovea::canvas
