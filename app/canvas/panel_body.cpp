// The body of a panel as app/drawing draws it, at its place on the canvas.
#include "canvas/scene.h"

namespace fovea::canvas {
namespace {

/// The greatest amount of a panel, or of all in its row where that shares a range.
std::optional<double> shared_top(const Scene& scene, int row, const Panel& panel) {
  auto top = drawing::amount_of(panel);
  if (!top || !scene.model.settings.shared_range) return top;
  for (int c = 0; c < scene.grid.columns(); ++c)
    if (const Panel* other = scene.panel(row, c);
        other && drawing::amount_name(*other) == drawing::amount_name(panel))
      top = std::max(*top, drawing::amount_of(*other).value_or(0));
  return top;
}

}  // namespace

PlacedPanel placed_panel(const Scene& scene, int row, int column) {
  const CanvasCell& cell = *scene.cell(row, column);
  const Panel& panel = *cell.panel;
  const BodyPlace place = place_of(panel, scene.grid.panel(row, column), scene.fonts);
  const Viewport& v = scene.viewport;
  return {.prepared = scene.prepared(cell.panel),
          .place = place,
          .axes = drawing::axes_of(panel, {.size = {place.plot.width, place.plot.height},
                                           .letters = scene.fonts,
                                           .top = shared_top(scene, row, panel),
                                           .queries = drawing::TokenSpan{v.row_begin, v.row_end},
                                           .keys = drawing::TokenSpan{v.col_begin, v.col_end},
                                           .names = scene.names()}),
          .scale = scene.scale(row, column),
          .names = scene.names()};
}

void PlacedPanel::draw_body(drawing::Ink& ink) const {
  drawing::draw_body({.ink = ink,
                      .prepared = prepared,
                      .body = place.body,
                      .plot = plot(),
                      .scale = scale ? &*scale : nullptr,
                      .names = names});
}

}  // namespace fovea::canvas
