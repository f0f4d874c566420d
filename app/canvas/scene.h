// A Scene is one frame of the canvas: the model, where everything lies and what the hand points at.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "canvas/canvas.h"
#include "canvas/grid.h"
#include "canvas/ink.h"
#include "canvas/raster_painter.h"
#include "canvas/row_scale.h"
#include "canvas/token_axis.h"

namespace fovea::canvas {

/// What the cursor is over; query or key is -1 where a panel has no such axis.
struct Pointer {
  Index query = -1, key = -1;
  int row = -1, column = -1;  // of the grid
  IndexRange leaves{0, 0};    // a leaf, or those below a node of an icicle
};

/// What a raster holds; known of every panel that is shown.
using ContentsOf = std::function<const RasterContents&(const std::shared_ptr<const Panel>&)>;

struct Scene {
  const CanvasModel& model;
  Viewport viewport;
  Grid grid;
  std::vector<RowScale> scales;  // one a row
  Pointer pointer;
  std::optional<std::pair<int, IndexRange>> chosen_leaves;   // column, leaves
  const std::vector<Index>& found;                           // tokens a search found, ascending
  const TokenErrors& token_errors;                           // by column
  int current_row = -1;                                      // its name stands out
  bool columns_move = true;                                  // their headers can be dragged
  std::optional<std::pair<IndexRange, IndexRange>> dragged;  // rectangle being selected
  std::optional<std::pair<int, float>> dragged_column;       // column, pointer's x
  ContentsOf contents;
  std::function<ImTextureID(const std::shared_ptr<const Panel>&)> picture;

  const CanvasCell* cell(int row, int column) const;
  TokenAxis queries(const Rect& panel) const;  // down
  TokenAxis keys(const Rect& panel) const;     // to the right
};

/// True for bodies whose place down or across is a token.
bool has_query_axis(const Panel& panel);
bool has_key_axis(const Panel& panel);

/// Layout and colours follow from the model.
GridShape shape_of(const CanvasModel& model, const Viewport& viewport, Point size,
                   const Fonts& fonts, const ContentsOf& contents);
/// Below a panel with a colour range of its own, in lines of at most `room`.
std::vector<std::vector<Swatch>> legend_lines(const Raster& raster, const RasterContents& contents,
                                              const ViewSettings& settings, const Fonts& fonts,
                                              float room);
/// Pixels that a swatch with its name takes.
float swatch_width(const Fonts& fonts, const Swatch& swatch);

std::vector<RasterDrawing> raster_drawings(const Scene& scene);
Pointer point_at(const Scene& scene, Point at);

void draw_scene(const Ink& ink, const Scene& scene);
/// The parts of draw_scene.
void draw_headers(const Ink& ink, const Scene& scene);
void draw_axes(const Ink& ink, const Scene& scene, int row);
void draw_scale(const Ink& ink, const Scene& scene, int row);
void draw_legend(const Ink& ink, const Scene& scene, int row, int column, const Panel& panel);
void draw_marks(const Ink& ink, const Scene& scene, const Rect& where, const Panel& panel);
void draw_tooltip(const Ink& ink, const Scene& scene, Point at);
/// What a panel says about the pair under the crosshair; empty when it has no number there.
std::string value_at_pointer(const Scene& scene, const Panel& panel);

/// The picture rectangle of an output within its panel.
Rect picture_place(const OutputPicture& picture, const Rect& panel);
/// The leaf whose bars are at a point, or those below the node there; else empty.
IndexRange leaves_at(const LeafSizes& leaves, const Rect& panel, Point at);
/// The raster's number for a pair; nothing outside of it.
std::optional<float> value_at(const Raster& raster, Index query, Index key);

}  // namespace fovea::canvas
