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

// Each warp of a warpgroup copies the rows of its slots, four at a time. A thread has that of its
// slot.
template <int Chunks>
__device__ __forceinline__ void gather_rows(char* tile, Rows16 from, std::int32_t row, int thread) {
  const int lane = thread % 32, piece = lane % row_pieces;
#pragma unroll 2
  for (int i = lane / row_pieces; i < 32; i += 32 / row_pieces) {
    const std::int32_t its = __shfl_sync(0xffffffffu, row, i);
    char* const to = tile + thread / 32 * 32 * row_bytes + swizzled(i, piece);
    copy_pieces<Chunks>(to, wide_tile_bytes, from, its, piece);
  }
}

/// Copies a KV tile by a warpgroup, whose threads arrive at `full`: a box that begins with row
/// `first_row`, or, where that is -1, for each thread the row of its slot.
template <int Chunks>
__device__ __forceinline__ void copy_kv_tile(char* tile, const CUtensorMap& map, Rows16 from,
                                             std::int32_t first_row, std::int32_t row,
                                             PhaseBarrier& full, int thread) {
  if (first_row < 0) {
    gather_rows<Chunks>(tile, from, row, thread);
    return arrive_after_copies(&full);
  }
  if (thread > 0) return arrive(&full);
  arrive_expecting(&full, Chunks * wide_tile_bytes);
#pragma unroll
  for (int part = 0; part < Chunks; ++part)
    copy_box_async(tile + part * wide_tile_bytes, &map, part * chunk, first_row, &full);
}

}  // namespace fovea::cuda
