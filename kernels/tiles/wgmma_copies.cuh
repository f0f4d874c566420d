// Copies of rows to the tiles of attend_wgmma: [64 columns][row], whose rows of 128 bytes are
// permuted as the products expect them.
#pragma once

#include "ptx_hopper.h"
#include "tiles/wgmma_shape.cuh"

namespace fovea::cuda {

/// Starts copying a piece of each 64 columns of a row to tiles that lie `apart` bytes apart; zeros
/// for a row of -1 and beyond the matrix.
template <int Chunks>
__device__ __forceinline__ void copy_pieces(char* to, int apart, Rows16 from, std::int32_t row,
                                            int piece) {
#pragma unroll
  for (int part = 0; part < Chunks; ++part) {
    const int column = part * chunk + piece * 8;
    const bool inside = row >= 0 && column < from.stride;
    copy_16_async(to + part * apart,
                  from.data + (inside ? static_cast<std::int64_t>(row) * from.stride + column
                                      : std::int64_t{0}),
                  inside);
  }
}

/// An arrival for what all lanes of the warp did before.
__device__ __forceinline__ void arrive_as_warp(PhaseBarrier& barrier, int lane) {
  __syncwarp();
  if (lane == 0) arrive(&barrier);
}

/// Copies a KV tile by a warp, which arrives at `full`: a box that begins with row `first_row`, or,
/// where that is -1, the rows in `rows`.
template <int Chunks>
__device__ __forceinline__ void copy_kv_tile(char* tile, const CUtensorMap& map, Rows16 from,
                                             std::int32_t first_row, const std::int32_t* rows,
                                             PhaseBarrier& full, int lane) {
  if (first_row < 0) {
    const int piece = lane % row_pieces;
#pragma unroll 2
    for (int slot = lane / row_pieces; slot < wide_keys; slot += 32 / row_pieces)
      copy_pieces<Chunks>(tile + swizzled(slot, piece), wide_tile_bytes, from, rows[slot], piece);
    expect_copies(&full);
    return arrive_as_warp(full, lane);
  }
  if (lane > 0) return;
  arrive_expecting(&full, Chunks * wide_tile_bytes);
#pragma unroll
  for (int part = 0; part < Chunks; ++part)
    copy_box_async(tile + part * wide_tile_bytes, &map, part * chunk, first_row, &full);
}

}  // namespace fovea::cuda
