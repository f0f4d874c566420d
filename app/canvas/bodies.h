// Bodies of panels drawn as ImGui lists; rasters lie below and get only their numbers here.
#pragma once

#include "canvas/scene.h"

namespace fovea::canvas {

/// Of a panel of leaves: narrower ones show no figures.
inline constexpr float least_width_for_figures = 180;

struct BodyDrawing {
  const Ink& ink;
  const Scene& scene;
  Rect where;
  int row, column;
  const std::shared_ptr<const Panel>& panel;
};

void draw_body(const BodyDrawing& d, const Message& message);
void draw_body(const BodyDrawing& d, const Raster& raster);
void draw_body(const BodyDrawing& d, const BlockMap& blocks);
void draw_body(const BodyDrawing& d, const LeafSizes& leaves);
void draw_body(const BodyDrawing& d, const RowCurve& row);
void draw_body(const BodyDrawing& d, const Strip& strip);
void draw_body(const BodyDrawing& d, const OutputPicture& picture);
void draw_body(const BodyDrawing& d, const FigureTable& table);

/// A number of each query beside an error map or a mask; nothing where they are not known.
void draw_row_strip(const Ink& ink, const Scene& scene, int row, int column);
/// What it says of the query under the crosshair.
std::string row_strip_words(const Scene& scene, int row, int column);

inline ImU32 colour_of(const Rgb& c, int alpha = 255) {
  return IM_COL32(c[0], c[1], c[2], alpha);
}
/// Black or white, whichever can be read on `c`.
inline ImU32 readable_on(const Rgb& c) {
  const double light = 0.299 * c[0] + 0.587 * c[1] + 0.114 * c[2];
  return light > 140 ? IM_COL32(20, 20, 24, 235) : IM_COL32(255, 255, 255, 235);
}

}  // namespace fovea::canvas
