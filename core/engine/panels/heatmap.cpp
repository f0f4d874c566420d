#include <cmath>
#include <limits>

#include "engine/panels/panels.h"

namespace fovea::panels {
namespace {

constexpr float masked = -std::numeric_limits<float>::infinity();

// The largest entry of the whole row of P (of all rows of a pixel).
std::vector<float> row_maxima(const PanelInputs& in, const Grid& grid, Run& run) {
  const Matrix m = in.computation.op->tile(in.rows, {0, in.computation.op->plan().n},
                                           {Pool::Kind::max, grid.down, 1}, run);
  return {m.data(), m.data() + m.rows()};
}

}  // namespace

Raster weight_raster(Matrix pixels, const std::vector<float>& maxima, const MatrixFrame& frame) {
  const Grid& grid = frame.grid;
  Raster raster;
  raster.rows = grid.rows;
  raster.cols = grid.cols;
  raster.pooled = grid.pool(frame.settings.pool).kind;
  raster.norm = frame.settings.norm;
  raster.quantity = "attention weight P";
  for (Index r = 0; r < pixels.rows() && !maxima.empty(); ++r)
    for (Index c = 0; c < pixels.cols(); ++c)
      if (const float top = maxima[static_cast<std::size_t>(r)]; top > 0) pixels(r, c) /= top;
  if (!maxima.empty()) raster.quantity = "P / largest of its row";
  if (frame.causal)
    for (Index r = 0; r < pixels.rows(); ++r)
      for (Index c = 0; c < pixels.cols(); ++c)
        if (grid.col_tokens(c).begin > grid.row_tokens(r).end - 1) pixels(r, c) = masked;
  raster.values = std::move(pixels);
  set_range(raster);
  if (!maxima.empty()) raster.low = 0, raster.high = 1;
  return raster;
}

Body heatmap(const PanelInputs& in, std::string& caption, Run& run) {
  const Grid grid(in.rows, in.cols, in.max_pixels);
  const Pool pool = grid.pool(in.settings.pool);
  Matrix pixels = in.computation.op->tile(in.rows, in.cols, pool, run);
  std::vector<float> maxima;
  if (in.settings.norm == Norm::row_max) maxima = row_maxima(in, grid, run);
  add_pooling(caption, grid, pool.kind);
  return weight_raster(std::move(pixels), maxima,
                       {grid, in.settings, in.computation.op->plan().causal});
}

}  // namespace fovea::panels
