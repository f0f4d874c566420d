// The weights P.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "analysis/support.h"
#include "data/larger.h"
#include "views/parts.h"

namespace fovea::views {
namespace {

constexpr float masked = -std::numeric_limits<float>::infinity();

// The largest entry of the whole row of P (of all rows of a pixel).
std::vector<float> row_maxima(const PanelInputs& in, const Grid& grid, Run& run) {
  const Plan& plan = in.computation.op->plan();
  const IndexRange all{0, plan.keys()};
  const IndexRange rows{grid.rows.begin, std::min(grid.rows.end, plan.queries())};
  std::vector<float> maxima;
  // A last pixel that extends beyond the end is cut off there.
  const Index side = grid.rows.size() / grid.down,
              whole = grid.rows.end > plan.queries() ? rows.size() / side : grid.down;
  const auto add = [&](IndexRange part, Index pixels) {
    if (pixels == 0) return;
    const Matrix m = in.computation.op->tile(part, all, {Pool::Kind::max, pixels, 1}, run);
    maxima.insert(maxima.end(), m.data(), m.data() + m.rows());
  };
  const Index cut = whole == grid.down ? rows.end : rows.begin + whole * side;
  add({rows.begin, cut}, whole);
  add({cut, rows.end}, grid.down - whole);
  return maxima;
}

// The largest pixel of every row of pixels, as far as the map knows them.
std::vector<float> row_maxima(const MapPyramid& map, MapView view) {
  view.cols = {0, (map.n() + view.pixel - 1) / view.pixel};
  const Matrix pixels = map.picture(view).values;
  std::vector<float> maxima;
  for (Index r = 0; r < pixels.rows(); ++r)
    maxima.push_back(std::accumulate(pixels.row(r), pixels.row(r) + pixels.cols(), pixels(r, 0),
                                     larger_or_nan<float>));
  return maxima;
}

/// The part of `keys` that lies in the band for some query of `queries`.
IndexRange keys_in_band(IndexRange queries, IndexRange keys, const Band& band) {
  if (band.hi < band.lo) return {};
  return {std::clamp(queries.begin - band.hi, keys.begin, keys.end),
          std::clamp(queries.end - band.lo, keys.begin, keys.end)};
}

bool admits_any(const Plan& plan, IndexRange queries, IndexRange keys) {
  if (!head_mask(plan)) return true;
  for (Index i = queries.begin; i < queries.end; ++i)
    if (admissible_keys(plan, i, keys) > 0) return true;
  return false;
}

/// `tokens`, cut off at `end`: the last pixels of a map may extend beyond it.
IndexRange up_to(Index end, IndexRange tokens) {
  return {std::min(tokens.begin, end), std::min(tokens.end, end)};
}

/// Marks pixels in which exact attention has no pair.
void mark_masked(Matrix& pixels, const Grid& grid, const Plan& plan) {
  if (!head_mask(plan) && plan.band().everything()) return;
  std::vector<IndexRange> keys;
  for (Index c = 0; c < pixels.cols(); ++c) keys.push_back(up_to(plan.keys(), grid.col_tokens(c)));
  for (Index r = 0; r < pixels.rows(); ++r) {
    const IndexRange queries = up_to(plan.queries(), grid.row_tokens(r));
    const IndexRange within = keys_in_band(queries, {0, plan.keys()}, plan.band());
    for (Index c = 0; c < pixels.cols(); ++c) {
      const IndexRange& of = keys[c];
      const bool meets = of.begin < within.end && within.begin < of.end;
      if (!meets || !admits_any(plan, queries, of)) pixels(r, c) = masked;
    }
  }
}

/// Where entries may be negative, colours are centred on 0.
Raster coloured_by_sign(Raster raster, const Plan& plan) {
  if (!may_be_negative(plan)) return raster;
  raster.palette = Palette::diverging;
  raster.high = std::max(std::abs(raster.low), std::abs(raster.high));
  raster.low = -raster.high;
  return raster;
}

}  // namespace

Raster weight_raster(MapPyramid::Pixels found, const std::vector<float>& maxima,
                     const MatrixFrame& frame) {
  Matrix& pixels = found.values;
  const Grid& grid = frame.grid;
  Raster raster;
  raster.rows = grid.rows;
  raster.cols = grid.cols;
  raster.pooled = grid.pool(frame.settings.pool).kind;
  raster.norm = frame.settings.norm;
  raster.quantity = "attention weight P";
  for (Matrix* of : {&pixels, &found.largest})
    for (Index r = 0; r < of->rows() && !maxima.empty(); ++r)
      for (Index c = 0; c < of->cols(); ++c)
        // A row of zeros stays as it is. If the largest entry is NaN, the whole row becomes NaN.
        if (const float top = maxima[r]; !(top <= 0)) (*of)(r, c) /= top;
  if (!maxima.empty()) raster.quantity = "P / largest of its row";
  if (frame.plan) mark_masked(pixels, grid, *frame.plan);
  raster.values = std::move(pixels);
  raster.peaks = peaks_of(found.largest);
  set_range(raster);
  if (raster.low == raster.high && raster.low > 0) raster.low = 0;  // all values are equal
  if (!maxima.empty()) raster.low = 0, raster.high = 1;
  return raster;
}

namespace {

Body heatmap_pixels(const PanelInputs& in, std::string& caption, Run& run) {
  const Grid grid = grid_of(in);
  MapPyramid::Pixels pixels;
  const Pool pool = grid.pool(in.settings.pool, pixels.largest);
  const bool by_row = in.settings.norm == Norm::row_max;
  const MatrixFrame frame{grid, in.settings, &in.computation.op->plan()};
  if (in.map) {
    Raster known;
    pixels = take_picture(*in.map, in, known, caption);
    const MapView view = view_of(in);
    std::vector<float> maxima;
    const bool all_seen = known.complete && view.pixel < in.map->overview_pixel();
    if (by_row) maxima = all_seen ? row_maxima(in, grid, run) : row_maxima(*in.map, view);
    Raster raster = weight_raster(std::move(pixels), maxima, frame);
    // A pixel may be a mean; the largest mean is not the largest entry.
    if (by_row && !all_seen) raster.quantity = "P / largest pixel of its row";
    if (!by_row) raster.standard_error = std::move(known.standard_error);
    raster.complete = known.complete;
    raster.estimated = known.estimated;
    return coloured_by_sign(std::move(raster), in.computation.op->plan());
  }
  Run first = run.part(0, by_row ? 0.5 : 1);
  pixels.values = in.computation.op->tile(in.rows, in.cols, pool, first);
  std::vector<float> maxima;
  Run rest = run.part(0.5, 1).quiet();
  if (by_row) maxima = row_maxima(in, grid, rest);
  run.reached(1);
  return coloured_by_sign(weight_raster(std::move(pixels), maxima, frame),
                          in.computation.op->plan());
}

Body heatmap(const PanelInputs& in, std::string& caption, Run& run) {
  Body pixels = heatmap_pixels(in, caption, run);
  const auto& rule = in.computation.op->problem().rule;
  if (rule && rule->sink) add(caption, "rows sum to less than 1: a sink takes the rest");
  return pixels;
}

MapPixels weight_map(const Computation& computation, const Computation&, const ViewSettings&) {
  return [op = computation.op](IndexRange rows, IndexRange cols, Pool pool, Run& run) {
    return op->tile(rows, cols, pool, run);
  };
}

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

Body matrix_heatmap(MatrixView a, const MatrixFrame& frame, const Backend&, std::string&,
                    Run& run) {
  const Grid& grid = frame.grid;
  const Pool::Kind kind = grid.pool(frame.settings.pool).kind;
  MapPyramid::Pixels pixels{Matrix(grid.down, grid.across), {}};
  if (kind == Pool::Kind::mean) pixels.largest = Matrix(grid.down, grid.across);
  std::vector<float> maxima;
  for (Index r = 0; r < grid.down; ++r) {
    run.check();
    const auto fill = [&](Matrix& into, Pool::Kind its) {
      for (Index c = 0; c < into.cols(); ++c)
        into(r, c) =
            static_cast<float>(pooled_entry(a, grid.row_tokens(r), grid.col_tokens(c), its));
    };
    fill(pixels.values, kind);
    fill(pixels.largest, Pool::Kind::max);
    if (frame.settings.norm == Norm::row_max)
      maxima.push_back(
          static_cast<float>(pooled_entry(a, grid.row_tokens(r), {0, a.cols}, Pool::Kind::max)));
  }
  return weight_raster(std::move(pixels), maxima, frame);
}

}  // namespace

}  // namespace fovea::views

namespace fovea {

ViewKind heatmap_view() {
  return {.id = "heatmap",
          .label = "Attention P",
          .meaning = "The weight that each query (down) gives each key (across).",
          .make = views::heatmap,
          .needs_entries = true,
          .uses_pooling = true,
          .tells_plan_notes = true,
          .has_norm = true,
          .has_keys = true,
          .has_colours = true,
          .hover_name = "P",
          .map = views::weight_map,
          .of_matrix = views::matrix_heatmap,
          .at_first = ViewKind::AtFirst::always};
}

}  // namespace fovea
