// The strip beside a panel: a number of each query as a colour. Beside an error map the output
// error |z~ - z|, beside a mask the share of exact mass that the row drops.
#include <cmath>

#include "canvas/scene.h"
#include "data/number_text.h"

namespace fovea::canvas {
namespace {

std::optional<drawing::RowStrip> strip_of(const Scene& scene, int row, int column) {
  const CanvasCell* cell = scene.cell(row, column);
  if (!cell || !cell->panel) return std::nullopt;
  const auto& errors = cell->token_errors;
  const bool known = errors && std::ssize(*errors) == scene.model.n;
  return drawing::row_strip_of(*cell->panel, known ? std::span(*errors) : std::span<const float>());
}

}  // namespace

void draw_row_strip(Ink& ink, const Scene& scene, int row, int column) {
  auto strip = strip_of(scene, row, column);
  if (!strip) return;
  // One scale for all columns, so that strips can be compared.
  for (int c = 0; c < scene.grid.columns() && scene.settings.shared_range; ++c)
    if (const auto other = strip_of(scene, row, c)) strip->top = std::max(strip->top, other->top);
  drawing::draw_row_strip(ink, scene.grid.panel(row, column),
                          {.low = scene.viewport.row_begin, .high = scene.viewport.row_end}, *strip,
                          colormap_for(Palette::sequential, scene.settings.colormap));
}

std::string row_strip_words(const Scene& scene, int row, int column) {
  const auto strip = strip_of(scene, row, column);
  const Index query = scene.pointer.query;
  if (!strip || query < 0) return "";
  const float value = strip->largest({query, query + 1});
  const auto& raster = std::get<Raster>(scene.panel(row, column)->body);
  if (raster.palette != Palette::categories) return "output error |z̃ − z| " + format_drawn(value);
  return raster.row_quantity +
         (std::isnan(value) ? ": not sampled" : " " + format_drawn(100 * value) + " %");
}

}  // namespace fovea::canvas
