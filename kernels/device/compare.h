// Kernels that compare two dense tiles of P~ and P on the device.
#pragma once

#include <cuda_runtime.h>

#include "backend/operator.h"

namespace fovea::cuda {

struct DenseTile {
  const float* data = nullptr;
  Index stride = 0;
};

/// A part of a rectangle: rows and columns [begin, end) within it, whose entries the tiles hold.
struct PoolDifferenceArgs {
  DenseTile approximate, exact;
  IndexRange rows, cols;  // the part, within the rectangle
  Index rectangle_rows = 0, rectangle_cols = 0;
  Index grid_rows = 0, grid_cols = 0;  // pixel r begins at row r rectangle_rows / grid_rows
  Difference kind = Difference::absolute;
  bool mean = false;  // else the entry of largest magnitude
  double* pixels =
      nullptr;  // [grid_rows, grid_cols]: sums or extremes of earlier parts; 0 at first
};

/// Adds the part to the pixels that it touches.
void pool_difference(const PoolDifferenceArgs& args, cudaStream_t stream);

/// One RowDifference a row of the tiles. Entries of -inf in `approximate` stand for pairs without
/// weight: 0, and no mass.
void compare_rows(DenseTile approximate, DenseTile exact, Index rows, Index cols,
                  RowDifference* out, cudaStream_t stream);

}  // namespace fovea::cuda
