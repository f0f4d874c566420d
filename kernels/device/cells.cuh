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

/// Blocks of at most `Threads` threads, each of which has a part of some rows, of one column at
/// least.
template <int Threads>
LaunchShape rows_of_cells(Index rows, int columns, cudaStream_t stream) {
  const int across = (columns + Threads - 1) / Threads, width = (columns + across - 1) / across,
            height = Threads / width;
  return {.grid = dim3(static_cast<unsigned>((rows + height - 1) / height),
                       static_cast<unsigned>(across)),
          .block = dim3(static_cast<unsigned>(width), static_cast<unsigned>(height)),
          .stream = stream};
}

struct Cell {
  Index row;
  int column;  // beyond the last one in some threads
};

/// The cell of this thread in rows_of_cells, found without a division: one of 64 bits takes some
/// seventy instructions.
__device__ inline Cell own_cell_of_rows() {
  return {static_cast<Index>(blockIdx.x) * blockDim.y + threadIdx.y,
          static_cast<int>(blockIdx.y * blockDim.x + threadIdx.x)};
}

}  // namespace fovea::cuda
