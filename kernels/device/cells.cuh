// Launches over the cells of a table, adjacent threads for adjacent columns.
#pragma once

#include "data/matrix.h"
#include "device/launch.h"

namespace fovea::cuda {

/// Blocks of `Threads` threads. A block has `per_block` cells: by default one for each thread.
template <int Threads>
LaunchShape cells(Index rows, Index columns, cudaStream_t stream, int per_block = Threads) {
  return {.grid = dim3(static_cast<unsigned>((rows * columns + per_block - 1) / per_block)),
          .block = dim3(Threads),
          .stream = stream};
}

/// The cell of this thread, row * columns + column, where each thread has one.
template <int Threads>
__device__ Index own_cell() {
  return static_cast<Index>(blockIdx.x) * Threads + threadIdx.x;
}

}  // namespace fovea::cuda
