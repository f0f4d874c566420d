// A raster for a screen that has fewer pixels than it has numbers: pooled as the raster itself is,
// once for each size, so that a frame looks at no more than a few numbers a pixel.
#pragma once

#include <cstdint>
#include <vector>

#include "drawing/colormap.h"

namespace fovea::canvas {

/// How many numbers, down and across, become one.
struct PooledBlock {
  Index down = 1, across = 1;
  friend bool operator==(const PooledBlock&, const PooledBlock&) = default;

  Index rows_of(const Raster& raster) const { return (raster.values.rows() + down - 1) / down; }
  Index cols_of(const Raster& raster) const { return (raster.values.cols() + across - 1) / across; }
};

/// Of each block the mean where the raster is mean-pooled, else the largest number, of a diverging
/// raster that of largest magnitude; blocks at the end may be cut off. NaN where one is NaN; -inf,
/// which is masked, only where all are. [rows_of, cols_of]
Matrix pooled_values(const Raster& raster, PooledBlock block);

/// Of categories, which have no order: the mean of the colours. [rows_of, cols_of, 3]
std::vector<std::uint8_t> pooled_colours(const Raster& raster, const Colormap& map,
                                         PooledBlock block);

}  // namespace fovea::canvas
