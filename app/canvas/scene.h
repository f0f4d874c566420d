// A Scene is one frame of the canvas: the part of the model that is shown, where everything lies
// and what is under the pointer.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "canvas/fonts.h"
#include "canvas/grid.h"
#include "canvas/viewport.h"
#include "drawing/bodies.h"
#include "drawing/colour_bar.h"
#include "drawing/visit_body.h"
#include "study/canvas_model.h"

namespace fovea::canvas {

using drawing::Align;
using drawing::Clip;
using drawing::faded;
using drawing::Ink;
using drawing::Letters;
using drawing::Rgba;

/// What is under the pointer; query or key is -1 if a panel has no such axis.
struct Pointer {
  Index query = -1, key = -1;
  int row = -1, column = -1;  // of the grid
  IndexRange leaves{0, 0};    // a leaf, or those below a node of an icicle
  friend bool operator==(const Pointer&, const Pointer&) = default;
};

/// What drawing needs of the panels that are shown.
using PreparedPanels = std::map<std::shared_ptr<const Panel>, drawing::PreparedPanel>;

/// A panel with everything its drawing needs.
struct PlacedPanel {
  const drawing::PreparedPanel& prepared;
  Rect body, plot;
  drawing::Axes axes;
  const drawing::ColourScale* scale;  // null if it has no colours
  drawing::TokenNames names;
  const ViewSettings& settings;
  std::optional<drawing::HalfPlane> part = {};  // as BodyDrawing has it

  /// It must outlive the drawing.
  drawing::BodyDrawing drawn_with(drawing::Ink& ink) const& {
    return {ink, prepared, body, {plot, axes}, scale, names, settings, part};
  }
};

/// A colour bar at its place.
struct PlacedBar {
  int row, column;  // column -1 for the bar of the row
  drawing::ColourBar bar;
  Point at;

  /// Where the colours of the range are.
  Rect gradient() const { return bar.gradient().moved(at.x, at.y); }
};

/// The part of a panel that shows a column.
struct PanelPart {
  int column;  // of the model
  const CanvasCell& cell;
  std::optional<drawing::HalfPlane> where = {};  // the whole panel if not set
};

struct Scene {
  const CanvasModel& model;
  ViewSettings& settings;  // of the model, or newer ones
  const Fonts& fonts;
  const PreparedPanels& prepared;
  std::vector<int> rows, columns;  // of the model, in the order of the grid
  PanelSize panel_size;
  bool enlarged = false;   // one panel alone, or with the one it is compared with
  Point size = {};         // of the canvas
  double pixel_ratio = 1;  // device pixels to one of the canvas
  Viewport viewport = {};
  Grid grid = {};
  std::vector<drawing::RowScales> scales = {};          // one a row, by column of the grid
  std::vector<std::vector<std::string>> captions = {};  // of the panels, with their strips' legends
  std::vector<std::vector<double>> strip_tops = {};     // as strip_tops_of has them
  Pointer pointer = {};
  std::optional<std::pair<int, IndexRange>> chosen_leaves = {};   // column of the model, leaves
  FoundTokens found = {};                                         // by a search
  int current_row = -1;                                           // the one that keys act on
  std::optional<std::pair<IndexRange, IndexRange>> dragged = {};  // rectangle being selected
  std::optional<std::pair<int, double>> dragged_column = {};      // column, pointer's x
  double border = 0.5;       // between two columns that are wiped: a share of a panel's width
  bool shows_other = false;  // the other of two blinking columns is seen

  /// Colours and places follow from what is shown.
  void lay_out(Point canvas);

  View view(int row) const { return model.views[rows[row]]; }
  const std::string& title(int column) const { return model.column_titles[columns[column]]; }
  /// Titles are equally large: as large as all of them fit, if they do.
  Letters title_letters() const;
  /// Null if the subtitle stands in their place.
  const ColumnFigures* figures(int column) const;
  /// What the attention of a column is; empty if that is not known.
  std::string note(int column) const;
  std::string subtitle(int column) const;
  bool is_selected(int column) const {
    return !enlarged && model.selected_column == columns[column];
  }
  /// Null outside of the grid.
  const CanvasCell* cell(int row, int column) const;
  /// Null if there is none yet.
  const Panel* panel(int row, int column) const;
  /// Null if the panel has another body.
  template <class Body>
  const Body* body(int row, int column) const {
    const Panel* at = panel(row, column);
    return at ? std::get_if<Body>(&at->body) : nullptr;
  }
  TokenAxis queries(const Rect& panel) const {  // down
    return {viewport.row_begin, viewport.row_end, panel.y, panel.bottom()};
  }
  TokenAxis keys(const Rect& panel) const {  // to the right
    return {viewport.col_begin, viewport.col_end, panel.x, panel.right()};
  }
  /// The tokens of the head that a column shows; those of the opened head for -1.
  drawing::TokenNames names(int column = -1) const {
    return {model.queries_of(column), model.keys_of(column)};
  }
  /// For a cell that has a panel.
  PlacedPanel placed(int row, int column) const;
  PlacedPanel placed(int row, int column, const PanelPart& part) const;
  /// The cell with which a panel is compared in its own place. Null if there is none, or if both
  /// cannot be compared.
  const CanvasCell* compared_with(int row, int column) const;
  /// The visible parts of a panel that is there: one, or two of compared columns.
  std::vector<PanelPart> parts(int row, int column) const;
  /// The part around the pair under the crosshair.
  PanelPart part_at_pointer(int row, int column) const;
  /// The words on two columns that are compared in the panels of this one.
  std::optional<ComparisonWords> comparison_words(int column) const;
  drawing::LeafPlace leaf_place(int row, int column) const;
  std::vector<PlacedBar> bars(int row) const;
  /// How a pixel of the screen shows several entries of a panel: "max of 2 × 2"; else empty.
  std::string pooling(int row, int column) const;
  Pointer point_at(Point at) const;
};

using drawing::has_key_axis;
using drawing::has_query_axis;
using drawing::is_one_of;

void draw_scene(Ink& ink, const Scene& scene);
/// A dark or light ground for words over a picture.
void draw_pill(Ink& ink, const Rect& where, Rgba edge, double rounding);
/// A column's title in so much room. The variant's name is cut rather than what tells the column
/// apart from others of the variant, and rather than what follows.
std::string shortened_title(const std::string& title, double room,
                            const drawing::Lettering& letters, Letters face = {},
                            const std::string& following = "");
/// Where the parameters stand in the title of a column; nothing if it has none.
std::optional<Rect> parameters_place(const Scene& scene, int column);
/// The parts of draw_scene.
void draw_headers(Ink& ink, const Scene& scene);
void draw_axes(Ink& ink, const Scene& scene, int row);
void draw_row_strip(Ink& ink, const Scene& scene, int row, int column);
void draw_marks(Ink& ink, const Scene& scene, int row, int column);

/// The scale of two columns that are compared in a panel whose row does not share one, so that
/// their colours can be compared. Nothing if the panel shows one column.
std::optional<drawing::ColourScale> scale_of_both(const Scene& scene, int row, int column);
/// The caption of a panel whose column is compared with another: those of both, or why only one is
/// shown.
std::string compared_caption(const Scene& scene, int row, int column);

/// Draws the card for what is under the pointer, which is at a point.
void draw_hover_card(Ink& ink, const Scene& scene, Point at);
/// The place for a card of a size: within the canvas, beside the pointer and not over it.
Rect card_place(Point pointer, Point size, Point canvas);
/// The words of the card.
std::string words_at_pointer(const Scene& scene);
/// The number of the visible part of a panel for the pair under the crosshair, in words; empty if
/// there is none.
std::string value_at_pointer(const Scene& scene, int row, int column);
/// Whether a panel has a strip of numbers of its queries beside it; the strip's words for the query
/// under the crosshair; the meaning of its colours.
bool has_row_strip(const Scene& scene, int row, int column);
std::string row_strip_words(const Scene& scene, int row, int column);
std::string row_strip_legend(const Scene& scene, int row, int column);
/// The number with the last colour of each strip in a row: the same for all if the row shares its
/// range, so that strips can be compared.
std::vector<double> strip_tops_of(const Scene& scene, int row);

/// The value whose pixel covers a pair, among a raster's values or other values of its pixels.
float number_of_pair(const Raster& raster, const Matrix& numbers, Index query, Index key);
/// The raster's number for a pair; nothing outside of it.
std::optional<float> value_at(const Raster& raster, Index query, Index key);

}  // namespace fovea::canvas
