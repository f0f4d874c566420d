// A Grid says where everything of the canvas lies: headers on top and the gutters at both sides
// stay, the panels scroll between them.
#pragma once

#include <vector>

#include "canvas/rect.h"

namespace fovea::canvas {

struct GridRow {
  float aspect = 1;       // height of its panels as part of their side
  bool key_axis = false;  // token ticks below its panels
  int caption_lines = 1;
  int legend_lines = 0;  // below each panel: a colour bar of its own, names of colours
};

struct GridShape {
  Point size;  // of the canvas
  int columns = 0;
  std::vector<GridRow> rows;
  int subtitle_lines = 1;
  float key_axis_height = 16;
  bool side_bars = true;  // colour bars at the right
};

class Grid {
 public:
  static constexpr float minimum_side = 112, comfortable_side = 280;
  static constexpr float gap = 10, caption_height = 18, line_height = 13, legend_height = 15;

  Grid() = default;
  explicit Grid(GridShape shape);

  float side() const { return side_; }
  int columns() const { return shape_.columns; }
  int rows() const { return static_cast<int>(shape_.rows.size()); }
  /// Where panels are seen; headers are clipped to its left and right.
  Rect window() const;
  /// How far the panels can be scrolled.
  Point furthest() const;
  void scroll_to(Point scroll);
  Point scroll() const { return scroll_; }

  Rect header(int column) const;
  Rect panel(int row, int column) const;
  Rect key_axis(int row, int column) const;
  Rect caption(int row, int column) const;
  Rect legend(int row, int column) const;
  Rect row_label(int row) const;
  Rect query_axis(int row) const;
  Rect side_bar(int row) const;
  Rect horizontal_bar() const;  // scroll bars; empty when all is seen
  Rect vertical_bar() const;

 private:
  float header_height() const;
  float below(const GridRow& row) const;
  float row_top(int row) const;

  GridShape shape_;
  float side_ = 0;
  Point scroll_, content_;
};

}  // namespace fovea::canvas
