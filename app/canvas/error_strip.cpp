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
    const Index end = std::min(queries.end - first, Index(values->size()));
    for (Index i = std::max<Index>(queries.begin - first, 0); i < end; ++i)
      if (const float v = (*values)[i]; std::isfinite(v) && !(v <= most)) most = v;
    return most;
  }
};

RowNumbers errors_of(const Scene& scene, int row, int column) {
  if (scene.view(row) != View::error || !scene.body<Raster>(row, column)) return {};
  const int c = scene.columns[column];
  if (c >= std::ssize(scene.token_errors) || !scene.token_errors[c]) return {};
  const std::vector<float>& errors = *scene.token_errors[c];
  return std::ssize(errors) == scene.model.n ? RowNumbers{&errors} : RowNumbers{};
}

RowNumbers shares_of(const Scene& scene, int row, int column) {
  const auto* raster = scene.body<Raster>(row, column);
  if (!raster || raster->row_shares.empty()) return {};
  return {&raster->row_shares, raster->rows.begin};
}

/// Of all columns where they share a range, so that strips can be compared.
float top_of_errors(const Scene& scene, int row, int column) {
  float top = 0;
  for (int c = 0; c < scene.grid.columns(); ++c)
    if (const RowNumbers errors = errors_of(scene, row, c);
        errors.values && (c == column || scene.settings.shared_range))
      top = std::fmax(top, errors.greatest({0, scene.model.n}));
  return top;
}

}  // namespace

void draw_row_strip(ScreenInk& ink, const Scene& scene, int row, int column) {
  const RowNumbers shares = shares_of(scene, row, column);
  const RowNumbers numbers = shares.values ? shares : errors_of(scene, row, column);
  if (!numbers.values) return;
  const float top = shares.values ? 1 : top_of_errors(scene, row, column);
  if (!(top > 0)) return;
  const Rect panel = scene.grid.panel(row, column);
  draw_row_shares(ink, {panel.right() + 2, panel.y, strip_width, panel.height},
                  {.low = scene.viewport.row_begin, .high = scene.viewport.row_end},
                  {*numbers.values, numbers.first, top},
                  colormap_for(Palette::sequential, scene.settings.colormap));
}

std::string row_strip_words(const Scene& scene, int row, int column) {
  const Index query = scene.pointer.query;
  if (query < 0) return "";
  if (const RowNumbers shares = shares_of(scene, row, column); shares.values) {
    const float share = shares.greatest({query, query + 1});
    const std::string& quantity = scene.body<Raster>(row, column)->row_quantity;
    return quantity +
           (std::isnan(share) ? ": not sampled" : " " + drawing::number_text(100 * share) + " %");
  }
  const RowNumbers errors = errors_of(scene, row, column);
  if (!errors.values || query >= std::ssize(*errors.values)) return "";
  return "output error |z̃ − z| " + drawing::number_text((*errors.values)[query]);
}

}  // namespace fovea::canvas
