// A Rect is a rectangle of the canvas in logical pixels, origin top left.
#pragma once

#include <algorithm>

namespace fovea::canvas {

struct Point {
  float x = 0, y = 0;
};

struct Rect {
  float x = 0, y = 0, width = 0, height = 0;

  float right() const { return x + width; }
  float bottom() const { return y + height; }
  Point centre() const { return {x + width / 2, y + height / 2}; }
  bool empty() const { return width <= 0 || height <= 0; }
  bool contains(Point p) const { return p.x >= x && p.x < right() && p.y >= y && p.y < bottom(); }
  Rect inset(float by) const { return {x + by, y + by, width - 2 * by, height - 2 * by}; }
  Rect intersected(const Rect& other) const {
    const float left = std::max(x, other.x), top = std::max(y, other.y);
    return {left, top, std::max(0.0f, std::min(right(), other.right()) - left),
            std::max(0.0f, std::min(bottom(), other.bottom()) - top)};
  }
};

}  // namespace fovea::canvas
