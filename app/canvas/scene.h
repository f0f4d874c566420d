// A Scene is one frame of the canvas: the model, where everything lies and what the pointer is
// over.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "canvas/grid.h"
#include "canvas/row_scale.h"
#include "canvas/screen_ink.h"
#include "canvas/token_axis.h"
#include "drawing/bodies.h"
#include "drawing/colour_bar.h"

namespace fovea::canvas {

/// What the cursor is over; query or key is -1 where a panel has no such axis.
struct Pointer {
  Index query = -1, key = -1;
  int row = -1, column = -1;  // of the grid
  IndexRange leaves{0, 0};    // a leaf, or those below a node of an icicle
};

/// What drawing needs of a panel that is shown.
using PreparedOf =
    std::function<const drawing::PreparedPanel&(const std::shared_ptr<const Panel>&)>;

struct Scene {
  const CanvasModel& model;
  const Fonts& fonts;
  Viewport viewport;
  Grid grid;
  std::vector<RowScale> scales;  // one a row
  Pointer pointer;
  std::optional<std::pair<int, IndexRange>> chosen_leaves;   // column, leaves
  const std::vector<Index>& found;                           // tokens a search found, ascending
  int current_row = -1;                                      // its name stands out
  bool columns_move = true;                                  // their headers can be dragged
  std::optional<std::pair<IndexRange, IndexRange>> dragged;  // rectangle being selected
  std::optional<std::pair<int, double>> dragged_column;      // column, pointer's x
  PreparedOf prepared;

  const CanvasCell* cell(int row, int column) const;
  /// The panel of a cell; null where there is none yet.
  const Panel* panel(int row, int column) const;
  TokenAxis queries(const Rect& panel) const;  // down
  TokenAxis keys(const Rect& panel) const;     // to the right
  drawing::TokenNames names() const { return drawing::TokenNames(*model.sequence); }
  /// What the colours of a panel mean, with those beside its range.
  std::optional<drawing::ColourScale> scale(int row, int column) const;
};

/// True for bodies whose place down or across is a token.
bool has_query_axis(const Panel& panel);
bool has_key_axis(const Panel& panel);

/// Layout and colours follow from the model.
GridShape shape_of(const CanvasModel& model, const Viewport& viewport, Point size,
                   const Fonts& fonts, const PreparedOf& prepared);
/// The bar of a panel with a range of its own, as wide as the panel.
drawing::ColourBar own_bar(const drawing::ColourScale& scale, const Fonts& fonts, double width);

/// Where a body and its plot lie within a panel.
struct BodyPlace {
  Rect body, plot;
};
BodyPlace place_of(const Panel& panel, const Rect& where, const Fonts& fonts);
drawing::LeafPlace leaf_place(const LeafSizes& leaves, const Panel& panel, const Rect& where,
                              const Fonts& fonts);

/// A panel with all that its drawing needs.
struct PlacedPanel {
  const drawing::PreparedPanel& prepared;
  BodyPlace place;
  drawing::Axes axes;
  std::optional<drawing::ColourScale> scale;
  drawing::TokenNames names;

  drawing::Plot plot() const { return {place.plot, axes}; }
  void draw_body(drawing::Ink& ink) const;
};
/// Of a cell that has a panel.
PlacedPanel placed_panel(const Scene& scene, int row, int column);

Pointer point_at(const Scene& scene, Point at);

void draw_scene(ScreenInk& ink, const Scene& scene);
/// The parts of draw_scene.
void draw_headers(ScreenInk& ink, const Scene& scene);
void draw_axes(ScreenInk& ink, const Scene& scene, int row);
void draw_row_bar(drawing::Ink& ink, const Scene& scene, int row);
void draw_row_strip(ScreenInk& ink, const Scene& scene, int row, int column);
void draw_marks(ScreenInk& ink, const Scene& scene, int row, int column);
void draw_tooltip(ScreenInk& ink, const Scene& scene, Point at);
/// What a panel says about the pair under the crosshair; empty when it has no number there.
std::string value_at_pointer(const Scene& scene, const Panel& panel);
/// What the strip beside a panel says of the query under the crosshair.
std::string row_strip_words(const Scene& scene, int row, int column);

/// The raster's number for a pair; nothing outside of it.
std::optional<float> value_at(const Raster& raster, Index query, Index key);

}  // namespace fovea::canvas
