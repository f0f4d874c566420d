// Points, rectangles and colours of a drawing, and the Style it has: the one palette of the window,
// its canvas and figures, light and dark. The origin is at the top left; the unit is a point on
// paper and a logical pixel on a screen.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

namespace fovea {

using Rgb = std::array<std::uint8_t, 3>;

}  // namespace fovea

namespace fovea::drawing {

struct Point {
  double x = 0, y = 0;
};

struct Rect {
  double x = 0, y = 0, width = 0, height = 0;

  double right() const { return x + width; }
  double bottom() const { return y + height; }
  Point centre() const { return {x + width / 2, y + height / 2}; }
  bool empty() const { return width <= 0 || height <= 0; }
  bool contains(Point p) const { return p.x >= x && p.x < right() && p.y >= y && p.y < bottom(); }
  Rect inset(double by) const { return {x + by, y + by, width - 2 * by, height - 2 * by}; }
  Rect moved(double right, double down) const { return {x + right, y + down, width, height}; }
  /// The rectangle without so much of its left, top, right and bottom.
  Rect without(double left, double top, double right, double bottom) const {
    return {x + left, y + top, width - left - right, height - top - bottom};
  }
  Rect intersected(const Rect& other) const {
    const double left = std::max(x, other.x), top = std::max(y, other.y);
    return {left, top, std::max(0.0, std::min(right(), other.right()) - left),
            std::max(0.0, std::min(bottom(), other.bottom()) - top)};
  }
};

/// The half-plane right of a line, as seen from `from` to `to` on a canvas whose y points down; the
/// line belongs to it.
struct HalfPlane {
  Point from, to;

  /// How far right of the line a point is, times the length from `from` to `to`.
  double beyond(Point p) const {
    return (to.x - from.x) * (p.y - from.y) - (to.y - from.y) * (p.x - from.x);
  }
  bool contains(Point p) const { return beyond(p) >= 0; }
  HalfPlane other_side() const { return {to, from}; }
};

struct Rgba {
  std::uint8_t r = 0, g = 0, b = 0, a = 255;
  friend bool operator==(const Rgba&, const Rgba&) = default;
};

constexpr Rgba opaque(const Rgb& c) {
  return {c[0], c[1], c[2], 255};
}

/// The same colour, more or less opaque.
constexpr Rgba faded(Rgba c, double opacity) {
  return {c.r, c.g, c.b, std::uint8_t(c.a * opacity)};
}

/// A colour on the way from `a` (share 0) to `b` (share 1).
inline Rgba mixed(Rgba a, Rgba b, double share) {
  const auto channel = [&](int from, int to) {
    return std::uint8_t(std::lround(from + (to - from) * share));
  };
  return {channel(a.r, b.r), channel(a.g, b.g), channel(a.b, b.b), channel(a.a, b.a)};
}

/// Black or white, whichever can be read on `ground`.
constexpr Rgba readable_on(const Rgb& ground) {
  const double light = 0.299 * ground[0] + 0.587 * ground[1] + 0.114 * ground[2];
  return light > 140 ? Rgba{20, 20, 24} : Rgba{255, 255, 255};
}

struct Style {
  /// Grounds: behind panels and docks; of panels and docks; of fields and buttons.
  Rgba ground, paper, raised;
  Rgba text, faint;  // words, and those that matter less
  Rgba label;        // words of axes, colour bars and legends
  Rgba frame, grid;  // lines around plots and widgets; lines within plots
  Rgba accent, warning, error;
  Rgba pinned, marked;  // a pinned row; tokens of a chosen leaf: no data have these colours
  Rgba veil, tip;       // veil over out-of-date panels; ground of a hover card
  // Data: the same on paper and on the screen.
  Rgba query, key, exact, approximate;
  std::array<Rgba, 8> series;  // curves, exact first; the colour blind can distinguish them
  double hair = 1;             // width of the thinnest line
  double finest = 1;           // shorter lengths cannot be distinguished

  /// Exact keeps its colour for itself when the others repeat.
  Rgba series_colour(std::size_t s) const { return series[s < 8 ? s : 1 + (s - 1) % 7]; }
};

/// In logical pixels.
const Style& screen_style(bool dark);
/// In points: the same colours with black labels and thinner, darker lines.
Style paper_style(bool dark);

}  // namespace fovea::drawing
