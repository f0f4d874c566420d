#include "canvas/grid.h"

#include <algorithm>
#include <cmath>

namespace fovea::canvas {
namespace {

constexpr double label_width = 20;  // the view's name, upright
constexpr double axis_width = 52;   // token numbers or tokens
constexpr double left = label_width + axis_width;
constexpr double bar_width = 98;  // colour bar and its numbers, or the names of colours
constexpr double margin = 10;
constexpr double row_gap = 8;
constexpr double scroll_width = 8;

}  // namespace

Grid::Grid(GridShape shape) : shape_(std::move(shape)) {
  const int columns = std::max(shape_.columns, 1);
  const double by_width = (shape_.size.x - left - right_margin() - gap * (columns - 1)) / columns;
  double fixed = header_height + margin, aspects = 0;
  for (const GridRow& row : shape_.rows) {
    fixed += below(row) + row_gap;
    aspects += row.aspect;
  }
  const double by_height = aspects > 0 ? (shape_.size.y - fixed) / aspects : by_width;
  // In a wide window with few columns the grid scrolls down rather than shrink the panels to
  // stamps; if little room is missing, panels shrink.
  const double target =
      by_height > 0.85 * by_width ? by_height : std::max(by_height, comfortable_side);
  const PanelSize& panels = shape_.panels;
  const double least = panels.all_columns ? smallest_side : minimum_side;
  side_ = std::floor(std::max(least, std::min(by_width, target)));
  if (panels.factor != 1)
    side_ = std::floor(std::clamp(panels.factor * side_, smallest_side, largest_side));
  content_.x = columns * side_ + (columns - 1) * gap;
  content_.y = row_top(rows()) - row_top(0);
}

int Grid::rows_in_sight(Point canvas, int columns) {
  GridShape shape{.size = canvas, .columns = columns, .rows = {GridRow{.key_axis = true}}};
  int rows = 0;
  for (; Grid(shape).furthest().y <= 0; ++rows) shape.rows.insert(shape.rows.begin(), GridRow{});
  return rows;
}

double Grid::right_margin() const {
  return shape_.side_bars ? bar_width : margin;
}

double Grid::below(const GridRow& row) const {
  return caption_height + (row.key_axis ? shape_.key_axis_height : 0) + row.bar_height;
}

double Grid::row_top(int row) const {
  double y = header_height - std::round(scroll_.y);
  for (int r = 0; r < row; ++r)
    y += std::round(side_ * shape_.rows[r].aspect) + below(shape_.rows[r]) + row_gap;
  return y;
}

Rect Grid::window() const {
  return {left - 1, header_height - 1, std::max(0.0, shape_.size.x - left - right_margin() + 2),
          std::max(0.0, shape_.size.y - header_height + 1)};
}

Point Grid::furthest() const {
  const Rect seen = window();
  return {std::max(0.0, content_.x + 2 - seen.width),
          std::max(0.0, content_.y + margin - seen.height)};
}

void Grid::scroll_to(Point scroll) {
  const Point most = furthest();
  scroll_ = {std::clamp(scroll.x, 0.0, most.x), std::clamp(scroll.y, 0.0, most.y)};
}

Rect Grid::header(int column) const {
  return {panel(0, column).x, 6, side_, header_height - 10};
}

Rect Grid::panel(int row, int column) const {
  const double x = left - std::round(scroll_.x) + column * (side_ + gap);
  const double aspect = rows() > row ? shape_.rows[row].aspect : 1;
  return {x, row_top(row), side_, std::round(side_ * aspect)};
}

Rect Grid::strip(int row, int column) const {
  const Rect beside = panel(row, column);
  return {beside.right(), beside.y, gap, beside.height};
}

Rect Grid::key_axis(int row, int column) const {
  const Rect above = panel(row, column);
  return {above.x, above.bottom(), side_, shape_.rows[row].key_axis ? shape_.key_axis_height : 0};
}

Rect Grid::caption(int row, int column) const {
  const Rect above = key_axis(row, column);
  return {above.x, above.bottom() + 1, side_, caption_height - 1};
}

Rect Grid::own_bar(int row, int column) const {
  const Rect above = caption(row, column);
  return {above.x, above.bottom(), side_, shape_.rows[row].bar_height};
}

Rect Grid::row_label(int row) const {
  const Rect beside = panel(row, 0);
  return {2, beside.y, label_width - 2, beside.height};
}

Rect Grid::query_axis(int row) const {
  const Rect beside = panel(row, 0);
  return {label_width, beside.y, axis_width, beside.height};
}

Rect Grid::side_bar(int row) const {
  const Rect beside = panel(row, 0);
  // Beside the last panel if all columns are seen, else at the window's edge.
  const double x = std::min(left + content_.x, window().right());
  return {x + 10, beside.y, bar_width - 22, beside.height};
}

Rect Grid::horizontal_bar() const {
  if (furthest().x <= 0) return {};
  const Rect seen = window();
  return {seen.x, shape_.size.y - scroll_width - 1, seen.width, scroll_width};
}

Rect Grid::vertical_bar() const {
  if (furthest().y <= 0) return {};
  const Rect seen = window();
  return {shape_.size.x - scroll_width - 1, seen.y, scroll_width, seen.height - scroll_width};
}

int Grid::column_at(double x, int otherwise) const {
  for (int c = 0; c < columns(); ++c)
    if (const Rect at = header(c); x >= at.x - gap / 2 && x < at.right() + gap / 2) return c;
  return otherwise;
}

std::optional<std::pair<int, int>> Grid::find(Point at, Rect (Grid::*part)(int, int) const) const {
  if (!window().contains(at)) return {};
  for (int r = 0; r < rows(); ++r)
    for (int c = 0; c < columns(); ++c)
      if ((this->*part)(r, c).contains(at)) return {{r, c}};
  return {};
}

}  // namespace fovea::canvas
