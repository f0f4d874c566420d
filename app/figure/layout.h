// A FigureLayout says where everything in a figure lies, in points; drawing it decides nothing
// more.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "figure/axes.h"
#include "figure/colour_scale.h"
#include "figure/figure.h"

namespace fovea {

struct CellLayout {
  QStringList title, subtitle;  // empty when the panel above says it
  QStringList caption;
  QRectF heading, body, plot, caption_box;
  Axes axes;
  std::optional<std::size_t> shape_of;  // a message's: the column of the map it stands in for
  bool show_x = false, show_y = false;  // else a neighbour carries the numbers
  std::optional<ColourScale> scale;
  std::optional<ColourBar> bar;  // its own, when the row has none
  QPointF bar_at;
};

struct RowLayout {
  std::vector<CellLayout> cells;
  std::optional<ColourBar> bar;
  QPointF bar_at;
};

struct FigureLayout {
  double width = 0, height = 0;
  QStringList title, footer;
  QRectF title_box, footer_box;
  std::vector<RowLayout> rows;
};

using ColourRange = std::optional<std::pair<double, double>>;

/// `range`: used for every raster of amounts instead of its own.
FigureLayout lay_out(const Figure& figure, const ColourRange& range = {});

}  // namespace fovea
