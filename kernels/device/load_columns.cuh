// load_columns copies some columns of rows to shared memory.
#pragma once

#include <cuda_runtime.h>

namespace fovea::cuda {

/// By a block of `Threads` threads: to[row] = columns [column, column + Stride - 1) of the rows
/// that row_of names; zeros from column `columns` on, and where row_of is null. The last float of
/// to[row] is not written: it is there against bank conflicts.
template <int Threads, int Rows, int Stride, class RowOf>
__device__ void load_columns(float (&to)[Rows][Stride], int column, int columns, RowOf row_of) {
  constexpr int width = Stride - 1;
  for (int at = static_cast<int>(threadIdx.x); at < Rows * width; at += Threads) {
    const int row = at / width, c = at % width;
    const float* from = column + c < columns ? row_of(row) : nullptr;
    to[row][c] = from ? from[column + c] : 0.0f;
  }
}

}  // namespace fovea::cuda
