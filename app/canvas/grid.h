// A Grid says where everything on the canvas lies: headers on top and gutters at both sides stay,
// and the panels scroll between them.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "drawing/caption.h"
#include "drawing/style.h"

namespace fovea::canvas {

using drawing::Point;
using drawing::Rect;

struct GridRow {
  double aspect = 1;      // height of its panels as part of their side
  bool key_axis = false;  // token ticks below its panels
  double bar_height = 0;  // of the panels' own colour bars, below them
};

/// How large panels are.
struct PanelSize {
  bool all_columns = false;  // all columns are seen, however small their panels become
  double factor = 1;         // of the size that the window gives them
  friend bool operator==(const PanelSize&, const PanelSize&) = default;
};

struct GridShape {
  Point size;  // of the canvas
  PanelSize panels = {};
  int columns = 0;
  std::vector<GridRow> rows;
  double key_axis_height = 16;
  bool side_bars = true;  // colour bars at the right
};

class Grid {
 public:
  // Limits of the side of panels that are made smaller or larger by hand.
  static constexpr double smallest_side = 48, minimum_side = 112, comfortable_side = 280,
                          largest_side = 2048;
  static constexpr double gap = 10, line_height = 13;
  // Headers and captions have their height from the beginning: nothing moves when words come.
  static constexpr double header_height = 68;
  static constexpr double caption_height = 5 + line_height * drawing::most_caption_lines;

  Grid() = default;
  explicit Grid(GridShape shape);

  double side() const { return side_; }
  int columns() const { return shape_.columns; }
  int rows() const { return int(shape_.rows.size()); }
  /// How many rows of square panels a canvas shows at once beside colour bars.
  static int rows_in_sight(Point canvas, int columns);
  bool empty() const { return columns() == 0 || rows() == 0; }
  /// The part of the canvas in which panels are seen; headers are clipped to its left and right.
  Rect window() const;
  /// How far the panels can be scrolled.
  Point furthest() const;
  void scroll_to(Point scroll);
  Point scroll() const { return scroll_; }

  Rect header(int column) const;
  Rect panel(int row, int column) const;
  Rect strip(int row, int column) const;  // the gap beside a panel
  Rect key_axis(int row, int column) const;
  Rect caption(int row, int column) const;
  Rect own_bar(int row, int column) const;
  Rect row_label(int row) const;
  Rect query_axis(int row) const;
  Rect side_bar(int row) const;
  Rect horizontal_bar() const;  // scroll bars; empty if everything is seen
  Rect vertical_bar() const;

  /// The column whose header, or half of a gap beside it, is at x; `otherwise` if there is none.
  int column_at(double x, int otherwise) const;
  /// The row and column of the panel whose part (&Grid::panel, &Grid::caption) is seen at a point.
  std::optional<std::pair<int, int>> find(Point at, Rect (Grid::*part)(int, int) const) const;

 private:
  double right_margin() const;
  double below(const GridRow& row) const;
  double row_top(int row) const;

  GridShape shape_;
  double side_ = 0;
  Point scroll_, content_;
};

}  // namespace fovea::canvas
