// A FigureLayout says where everything in a figure lies, in points; drawing it decides nothing
// more.
#pragma once

#include "drawing/bodies.h"
#include "drawing/colour_bar.h"
#include "figure/figure.h"
#include "figure/painter_ink.h"

namespace fovea {

using namespace drawing;

struct CellLayout {
  explicit CellLayout(const Panel& panel) : prepared(panel) {}

  PreparedPanel prepared;
  std::vector<std::string> title, subtitle;  // empty when the panel above says it
  std::vector<std::string> caption;
  Rect heading, body, plot, caption_box;
  Axes axes;
  std::optional<std::size_t> shape_of;  // a message's: the column of the map it stands in for
  bool show_x = false, show_y = false;  // else a neighbour carries the numbers and names
  std::optional<ColourScale> scale;
  std::optional<ColourBar> bar;  // its own, when the row has none
  Point bar_at;
  std::optional<RowStrip> strip;

  AxisWords x_words() const { return {show_x, show_x}; }
  AxisWords y_words() const { return {show_y, show_y}; }
};

struct RowLayout {
  std::vector<CellLayout> cells;
  std::optional<ColourBar> bar;
  Point bar_at;
};

struct FigureLayout {
  double width = 0, height = 0;
  std::vector<std::string> title, footer;
  Rect title_box, footer_box;
  Legend legend;  // of the series
  Point legend_at;
  std::vector<RowLayout> rows;
};

/// Of the letters in a figure's title, in points.
inline double title_size(const FigureStyle& style) {
  return style.font_size + 1;
}

/// The figure must outlive it.
FigureLayout lay_out(const Figure& figure, const PaperLettering& letters);

/// Draws everything but the ground.
void draw_layout(Ink& ink, const Figure& figure, const FigureLayout& layout);

}  // namespace fovea
