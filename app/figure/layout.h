// A FigureLayout says where everything in a figure lies, in points. Drawing only follows it.
#pragma once

#include "drawing/bodies.h"
#include "drawing/colour_bar.h"
#include "figure/figure.h"
#include "figure/painter_ink.h"

namespace fovea {

struct CellLayout {
  explicit CellLayout(const Panel& panel) : prepared(panel) {}

  drawing::PreparedPanel prepared;
  std::vector<std::string> title, subtitle;  // empty if the panel above says it
  std::vector<std::string> caption;
  drawing::Rect heading, body, plot, caption_box;
  drawing::Axes axes;
  std::optional<std::size_t> stands_in_for;  // of a message: the column with a map
  bool left_out = false;                     // its place stays white
  bool show_x = false, show_y = false;       // otherwise a neighbour carries the numbers and names
  std::optional<drawing::ColourScale> scale;
  std::optional<drawing::ColourBar> bar;  // its own bar, if the row has none
  drawing::Point bar_at;
  std::optional<drawing::RowStrip> strip;

  drawing::AxisWords x_words() const { return {show_x, show_x}; }
  drawing::AxisWords y_words() const { return {show_y, show_y}; }
};

struct RowLayout {
  std::vector<CellLayout> cells;
  std::vector<std::string> name;  // upright lines, from the left
  drawing::Rect name_box;
  std::optional<drawing::ColourBar> bar, strip_bar;
  drawing::Point bar_at, strip_bar_at;
};

struct FigureLayout {
  double width = 0, height = 0;
  /// At which every panel has the height of three lines, or all that it needs.
  double least_height = 0;
  std::vector<std::string> title, footer;
  drawing::Rect title_box, footer_box;
  drawing::Legend legend;  // of the series
  drawing::Point legend_at;
  drawing::Letters title_face, panel_title_face, note_face;
  std::vector<RowLayout> rows;
};

/// The figure must outlive it.
FigureLayout lay_out(const Figure& figure, const PaperLettering& letters);

/// Draws everything but the ground.
void draw_layout(drawing::Ink& ink, const Figure& figure, const FigureLayout& layout,
                 const Run& run);

}  // namespace fovea
