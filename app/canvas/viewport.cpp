#include "canvas/viewport.h"

#include <algorithm>
#include <cmath>

namespace fovea::canvas {
namespace {

constexpr double least_tokens = 4;

void clamp_axis(double& begin, double& end, double n) {
  const double extent = std::clamp(end - begin, std::min(least_tokens, n), n);
  const double middle = (begin + end) / 2;
  begin = std::clamp(middle - extent / 2, 0.0, n - extent);
  end = begin + extent;
}

/// How far [begin, end) has to move to hold the whole token.
double missing(double begin, double end, Index token) {
  if (token < begin) return token - begin;
  return std::max(0.0, token + 1 - end);
}

}  // namespace

Viewport panned(const Viewport& v, double rows, double cols, Lengths lengths) {
  rows = std::clamp(rows, -v.row_begin, std::max(0.0, lengths.queries - v.row_end));
  cols = std::clamp(cols, -v.col_begin, std::max(0.0, lengths.keys - v.col_end));
  return {v.row_begin + rows, v.row_end + rows, v.col_begin + cols, v.col_end + cols};
}

Viewport zoomed(const Viewport& v, double factor, double row, double col, Lengths lengths) {
  const double rows = v.row_end - v.row_begin, cols = v.col_end - v.col_begin;
  // The same factor for both axes, stopped where the one that can go further reaches its limit.
  const auto least = [](Index n) { return std::min(least_tokens, double(n)); };
  factor = std::max(factor, std::min(least(lengths.queries) / rows, least(lengths.keys) / cols));
  Viewport out{row + (v.row_begin - row) * factor, row + (v.row_end - row) * factor,
               col + (v.col_begin - col) * factor, col + (v.col_end - col) * factor};
  clamp_axis(out.row_begin, out.row_end, lengths.queries);
  clamp_axis(out.col_begin, out.col_end, lengths.keys);
  return out;
}

Viewport showing(const Viewport& v, Index query, Index key, Lengths lengths) {
  return panned(v, missing(v.row_begin, v.row_end, query), missing(v.col_begin, v.col_end, key),
                lengths);
}

Index TokenAxis::token_at(double pixel, Index n) const {
  return std::clamp(Index(std::floor(token(pixel))), Index{0}, n - 1);
}

std::vector<std::pair<double, double>> spans(const TokenAxis& axis,
                                             const std::vector<Index>& tokens) {
  std::vector<std::pair<double, double>> out;
  auto token = std::ranges::lower_bound(tokens, Index(std::floor(axis.begin)));
  for (; token != tokens.end() && *token < axis.end; ++token) {
    const double a = axis.pixel(*token);
    const double b = std::max(a + 1, axis.pixel(*token + 1));
    if (!out.empty() && a < out.back().second + 0.5)
      out.back().second = b;
    else
      out.emplace_back(a, b);
  }
  return out;
}

}  // namespace fovea::canvas
