// The strip beside a panel: a number of each query as a colour. It is the output error |z~ - z|
// beside an error map, and a share of the row beside others, such as the exact mass that it drops.
#include <algorithm>
#include <cmath>

#include "canvas/scene.h"
#include "data/number_text.h"

namespace fovea::canvas {
namespace {

std::optional<drawing::RowStrip> strip_of(const Scene& scene, int row, int column) {
  const CanvasCell* cell = scene.cell(row, column);
  if (!cell || !cell->panel) return std::nullopt;
  const auto& errors = cell->token_errors;
  const bool known = errors && std::ssize(*errors) == scene.model.lengths.queries;
  return drawing::row_strip_of(*cell->panel, known ? std::span(*errors) : std::span<const float>());
}

std::string quantity_of(const Scene& scene, int row, int column) {
  const auto& raster = std::get<Raster>(scene.panel(row, column)->body);
  return scene.view(row)->has_token_errors ? "output error |z̃ − z|" : raster.row_quantity;
}

std::string number_text(const Scene& scene, int row, double value) {
  return scene.view(row)->has_token_errors ? format_drawn(value) : format_drawn(100 * value) + " %";
}

}  // namespace

bool has_row_strip(const Scene& scene, int row, int column) {
  return strip_of(scene, row, column).has_value();
}

void draw_row_strip(Ink& ink, const Scene& scene, int row, int column) {
  auto strip = strip_of(scene, row, column);
  if (!strip) return;
  strip->top = scene.strip_tops[row][column];
  drawing::draw_row_strip(ink, scene.grid.panel(row, column),
                          {.low = scene.viewport.row_begin, .high = scene.viewport.row_end}, *strip,
                          colormap_for(Palette::sequential, scene.settings.colormap));
}

std::string row_strip_words(const Scene& scene, int row, int column) {
  const auto strip = strip_of(scene, row, column);
  const Index query = scene.pointer.query;
  if (!strip || query < 0) return "";
  const float value = strip->largest({query, query + 1});
  return quantity_of(scene, row, column) + (std::isnan(value)
                                                ? ": not sampled, or not defined"
                                                : " " + number_text(scene, row, value));
}

std::string row_strip_legend(const Scene& scene, int row, int column) {
  if (!has_row_strip(scene, row, column)) return "";
  return "strip: " + quantity_of(scene, row, column) + ", colours 0 to " +
         number_text(scene, row, scene.strip_tops[row][column]);
}

std::vector<double> strip_tops_of(const Scene& scene, int row) {
  std::vector<double> tops;
  for (int c = 0; c < std::ssize(scene.columns); ++c) {
    const auto strip = strip_of(scene, row, c);
    tops.push_back(strip ? strip->top : 0);
  }
  if (scene.settings.shared_range && !tops.empty()) std::ranges::fill(tops, std::ranges::max(tops));
  return tops;
}

}  // namespace fovea::canvas
