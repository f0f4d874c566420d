// The strip beside an error map: each query's output error |z~ - z| as a colour.
#include <algorithm>
#include <cmath>

#include "gui/canvas/bodies.h"

namespace fovea::canvas {
namespace {

constexpr float strip_width = 6;  // it stands in the gap between panels

const std::vector<float>* errors_of(const Scene& scene, int row, int column) {
  const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
  const CanvasCell* cell = scene.cell(row, column);
  const bool of_errors = r < scene.model.views.size() && scene.model.views[r] == View::error &&
                         cell && cell->panel && std::holds_alternative<Raster>(cell->panel->body);
  if (!of_errors || c >= scene.token_errors.size() || !scene.token_errors[c]) return nullptr;
  const std::vector<float>& errors = *scene.token_errors[c];
  return static_cast<Index>(errors.size()) == scene.model.n ? &errors : nullptr;
}

float greatest(const std::vector<float>& values) {
  float most = 0;
  for (const float v : values)
    if (std::isfinite(v)) most = std::max(most, v);
  return most;
}

/// Of all columns, so that strips can be compared.
float shared_top(const Scene& scene, int row, float own) {
  if (!scene.model.settings.shared_range) return own;
  for (int c = 0; c < scene.grid.columns(); ++c)
    if (const auto* errors = errors_of(scene, row, c)) own = std::max(own, greatest(*errors));
  return own;
}

}  // namespace

void draw_error_strip(const Ink& ink, const Scene& scene, int row, int column) {
  const std::vector<float>* errors = errors_of(scene, row, column);
  if (!errors) return;
  const float top = shared_top(scene, row, greatest(*errors));
  if (!(top > 0)) return;
  const Rect panel = scene.grid.panel(row, column);
  const TokenAxis queries = scene.queries(panel);
  const Colormap& map = colormap_for(Palette::sequential, scene.model.settings.colormap);
  const auto n = static_cast<Index>(errors->size());
  for (float y = panel.y; y < panel.bottom(); y += 1) {
    const Index first = std::clamp<Index>(static_cast<Index>(queries.token(y)), 0, n - 1);
    const Index last = std::clamp<Index>(static_cast<Index>(queries.token(y + 1)), first, n - 1);
    float most = 0;
    for (Index i = first; i <= last; ++i)
      most = std::max(most, (*errors)[static_cast<std::size_t>(i)]);
    // By a root: small errors shall be told from none.
    const float share = std::sqrt(std::clamp(most / top, 0.0f, 1.0f));
    ink.fill({panel.right() + 2, y, strip_width, 1},
             colour_of(map.steps[static_cast<std::size_t>(share * 255)]));
  }
}

std::string output_error_words(const Scene& scene, int row, int column) {
  const std::vector<float>* errors = errors_of(scene, row, column);
  const Index query = scene.pointer.query;
  if (!errors || query < 0 || query >= static_cast<Index>(errors->size())) return "";
  return "output error |z̃ − z| " + number((*errors)[static_cast<std::size_t>(query)]);
}

}  // namespace fovea::canvas
