#include "analysis/block_mask.h"
#include "engine/panels/panels.h"

namespace fovea::panels {
namespace {

constexpr Index blocks_when_zoomed_in = 4;  // up to so many a side are shown element by element

struct Tiles {
  Index full = 0, partial = 0, empty = 0;
  double covered = 0, touched = 0, all = 0;  // pairs
};

Raster element_raster(const PanelInputs& in, Tiles& tiles) {
  Raster raster;
  raster.values = element_mask(in.computation.op->plan(), in.rows, in.cols);
  raster.categories = {"no weight", "attended"};
  for (Index i = 0; i < raster.values.rows(); ++i)
    for (Index j = 0; j < raster.values.cols(); ++j)
      tiles.covered += static_cast<double>(raster.values(i, j));
  tiles.all = static_cast<double>(in.rows.size()) * static_cast<double>(in.cols.size());
  return raster;
}

// Blocks begin at multiples of their side, so that they stay put when the view moves.
Raster block_raster(const PanelInputs& in, Index block, const std::stop_token& stop, Tiles& tiles) {
  const Plan& plan = in.computation.op->plan();
  const auto whole = [&](IndexRange r) {
    return IndexRange{r.begin / block * block,
                      std::min(plan.n, (r.end + block - 1) / block * block)};
  };
  const IndexRange rows = whole(in.rows), cols = whole(in.cols);
  Matrix fill = block_fill(plan, rows, cols, block, stop);
  for (Index r = 0; r < fill.rows(); ++r)
    for (Index c = 0; c < fill.cols(); ++c) {
      const double area = static_cast<double>(std::min(block, rows.size() - r * block)) *
                          static_cast<double>(std::min(block, cols.size() - c * block));
      const double share = static_cast<double>(fill(r, c));
      ++(share == 0 ? tiles.empty : share < 1 ? tiles.partial : tiles.full);
      tiles.all += area;
      tiles.covered += share * area;
      if (share > 0) tiles.touched += area;
      fill(r, c) = share == 0 ? 0.0f : share < 1 ? 1.0f : 2.0f;
    }
  const Grid grid(in.rows, in.cols, in.max_pixels);
  Raster raster;
  raster.values = Matrix(grid.down, grid.across);
  for (Index r = 0; r < grid.down; ++r)
    for (Index c = 0; c < grid.across; ++c)
      raster.values(r, c) = fill((grid.row_centre(r) - rows.begin) / block,
                                 (grid.col_centre(c) - cols.begin) / block);
  raster.categories = {"empty", "partial", "full"};
  return raster;
}

}  // namespace

Body mask(const PanelInputs& in, std::string& caption, Run& run) {
  run.check();
  const Index side = std::max(in.rows.size(), in.cols.size());
  Index block = std::max<Index>(1, in.settings.mask_block);
  const bool elements = side <= std::min(blocks_when_zoomed_in * block, in.max_pixels);
  while (side > block * in.max_pixels) block *= 2;  // a block is a pixel at least
  Tiles tiles;
  Raster raster = elements ? element_raster(in, tiles) : block_raster(in, block, run.stop, tiles);
  raster.rows = in.rows;
  raster.cols = in.cols;
  raster.palette = Palette::categories;
  raster.high = static_cast<double>(raster.categories.size() - 1);
  raster.quantity = elements ? "pairs with weight"
                             : std::to_string(block) + " × " + std::to_string(block) + " tiles";
  add(caption, "density " + number(tiles.covered / tiles.all, 2));
  if (!elements) {
    add(caption, std::to_string(tiles.full) + " full, " + std::to_string(tiles.partial) +
                     " partial, " + std::to_string(tiles.empty) + " empty");
    if (tiles.partial > 0) add(caption, percent(1 - tiles.covered / tiles.touched) + " wasted");
  }
  if (in.metrics)
    add(caption, percent(std::max(0.0, 1 - in.metrics->mass_kept.value)) + " of a row dropped");
  return raster;
}

}  // namespace fovea::panels
