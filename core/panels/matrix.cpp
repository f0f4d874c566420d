// Panels of a given attention matrix: there is no operator, only its entries.
#include <cmath>
#include <limits>

#include "panels/panels.h"

namespace fovea {
namespace {

using panels::Grid;

double pooled_entry(MatrixView a, IndexRange rows, IndexRange cols, Pool::Kind kind) {
  double sum = 0, top = -std::numeric_limits<double>::infinity();
  for (Index i = rows.begin; i < rows.end; ++i)
    for (Index j = cols.begin; j < cols.end; ++j) {
      const double x = static_cast<double>(a(i, j));
      sum += x;
      if (!(x <= top)) top = x;  // NaN is shown
    }
  return kind == Pool::Kind::mean ? sum / static_cast<double>(rows.size() * cols.size()) : top;
}

panels::Body matrix_heatmap(MatrixView a, const panels::MatrixFrame& frame, Run& run) {
  const Grid& grid = frame.grid;
  const Pool::Kind kind = grid.pool(frame.settings.pool).kind;
  Matrix pixels(grid.down, grid.across);
  std::vector<float> maxima;
  for (Index r = 0; r < grid.down; ++r) {
    run.check();
    for (Index c = 0; c < grid.across; ++c)
      pixels(r, c) =
          static_cast<float>(pooled_entry(a, grid.row_tokens(r), grid.col_tokens(c), kind));
    if (frame.settings.norm == Norm::row_max)
      maxima.push_back(
          static_cast<float>(pooled_entry(a, grid.row_tokens(r), {0, a.cols}, Pool::Kind::max)));
  }
  return panels::weight_raster(std::move(pixels), maxima, frame);
}

panels::Body matrix_rank(MatrixView a, const panels::MatrixFrame& frame, const Backend& backend,
                         std::string& caption, Run& run) {
  return panels::rank_body(
      panels::rank_window({a.rows, a.cols}, frame.grid.rows, frame.grid.cols), false,
      [&](IndexRange rows, IndexRange cols) {
        Matrix block(rows.size(), cols.size());
        for (Index i = 0; i < rows.size(); ++i)
          std::copy_n(a.row(rows.begin + i) + cols.begin, cols.size(), block.row(i));
        return block;
      },
      frame.settings, "P", backend, caption, run);
}

}  // namespace

Panel make_matrix_panel(View view, MatrixView attention, const ViewSettings& settings,
                        IndexRange rows, IndexRange cols, Index max_pixels, const Backend& backend,
                        Run& run) {
  const auto within = [](IndexRange r, Index n) {
    return IndexRange{std::clamp<Index>(r.begin, 0, n), std::clamp<Index>(r.end, 0, n)};
  };
  rows = within(rows, attention.rows);
  cols = within(cols, attention.cols);
  Panel panel{.view = view, .title = {}, .subtitle = {}, .caption = {}, .body = {}};
  if (rows.size() <= 0 || cols.size() <= 0) {
    panel.body = Message{"The view lies outside the matrix: press F to fit."};
    return panel;
  }
  const panels::MatrixFrame frame{Grid(rows, cols, std::max<Index>(1, max_pixels)), settings,
                                  nullptr};
  if (view == View::heatmap)
    panel.body = matrix_heatmap(attention, frame, run);
  else if (view == View::rank)
    panel.body = matrix_rank(attention, frame, backend, panel.caption, run);
  else
    panel.body = Message{"This needs Q, K and V; the file holds only an attention matrix."};
  return panel;
}

}  // namespace fovea
