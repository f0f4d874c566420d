// The strip beside a panel: a number of each query as a colour. Beside an error map the output
// error |z~ - z|, beside a mask the share of exact mass that the row drops.
#include <algorithm>
#include <cmath>

#include "canvas/scene.h"

namespace fovea::canvas {
namespace {

constexpr double strip_width = 6;  // it stands in the gap between panels

/// values[i] is of query first + i; NaN: not known.
struct RowNumbers {
  const std::vector<float>* values = nullptr;
  Index first = 0;

  /// The greatest of the queries that is known; NaN: none is.
  float greatest(IndexRange queries) const {
    float most = std::nanf("");
    const Index end = std::min(queries.end - first, static_cast<Index>(values->size()));
    for (Index i = std::max<Index>(queries.begin - first, 0); i < end; ++i)
      if (const float v = (*values)[static_cast<std::size_t>(i)]; std::isfinite(v) && !(v <= most))
        most = v;
    return most;
  }
  float greatest() const { return greatest({first, first + static_cast<Index>(values->size())}); }
};

const Raster* raster_in(const Scene& scene, int row, int column) {
  const CanvasCell* cell = scene.cell(row, column);
  return cell && cell->panel ? std::get_if<Raster>(&cell->panel->body) : nullptr;
}

RowNumbers errors_of(const Scene& scene, int row, int column) {
  const auto r = static_cast<std::size_t>(row), c = static_cast<std::size_t>(column);
  const bool of_errors = r < scene.model.views.size() && scene.model.views[r] == View::error &&
                         raster_in(scene, row, column);
  if (!of_errors || c >= scene.token_errors.size() || !scene.token_errors[c]) return {};
  const std::vector<float>& errors = *scene.token_errors[c];
  return static_cast<Index>(errors.size()) == scene.model.n ? RowNumbers{&errors} : RowNumbers{};
}

RowNumbers shares_of(const Scene& scene, int row, int column) {
  const Raster* raster = raster_in(scene, row, column);
  if (!raster || raster->row_shares.empty()) return {};
  return {&raster->row_shares, raster->rows.begin};
}

/// Of all columns, so that strips can be compared.
float shared_top(const Scene& scene, int row, float own) {
  if (!scene.model.settings.shared_range) return own;
  for (int c = 0; c < scene.grid.columns(); ++c)
    if (const RowNumbers errors = errors_of(scene, row, c); errors.values)
      own = std::fmax(own, errors.greatest());
  return own;
}

void draw_strip(ScreenInk& ink, const Scene& scene, const Rect& panel, const RowNumbers& numbers,
                float top) {
  drawing::PanelAxis axis{.low = scene.viewport.row_begin, .high = scene.viewport.row_end};
  draw_row_shares(ink, {panel.right() + 2, panel.y, strip_width, panel.height}, axis,
                  {*numbers.values, numbers.first, top},
                  colormap_for(Palette::sequential, scene.model.settings.colormap));
}

}  // namespace

void draw_row_strip(ScreenInk& ink, const Scene& scene, int row, int column) {
  const Rect panel = scene.grid.panel(row, column);
  if (const RowNumbers shares = shares_of(scene, row, column); shares.values)
    return draw_strip(ink, scene, panel, shares, 1);
  const RowNumbers errors = errors_of(scene, row, column);
  if (!errors.values) return;
  const float top = shared_top(scene, row, errors.greatest());
  if (top > 0) draw_strip(ink, scene, panel, errors, top);
}

std::string row_strip_words(const Scene& scene, int row, int column) {
  const Index query = scene.pointer.query;
  if (query < 0) return "";
  if (const RowNumbers shares = shares_of(scene, row, column); shares.values) {
    const float share = shares.greatest({query, query + 1});
    const std::string& quantity = raster_in(scene, row, column)->row_quantity;
    return quantity +
           (std::isnan(share) ? ": not sampled" : " " + drawing::number_text(100 * share) + " %");
  }
  const RowNumbers errors = errors_of(scene, row, column);
  if (!errors.values || query >= static_cast<Index>(errors.values->size())) return "";
  return "output error |z̃ − z| " +
         drawing::number_text((*errors.values)[static_cast<std::size_t>(query)]);
}

}  // namespace fovea::canvas
