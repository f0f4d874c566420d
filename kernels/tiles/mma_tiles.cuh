// Tiles of 64 columns of Q, K or V in shared memory, as the kernels of tensor cores copy and read
// them.
#pragma once

#include "device/matrix_16.h"
#include "tiles/query_tile.cuh"

namespace fovea::cuda {

constexpr int group_rows = 16;  // queries of an instruction
constexpr int tile_ring = 3;    // tiles: one is read while two are copied
constexpr int tile_ahead = tile_ring - 1;
constexpr int row_bytes = 2 * chunk;  // of a tile: 64 values, which take every bank once
constexpr int row_pieces = row_bytes / 16;
constexpr int tile_bytes = kv_tile_keys * row_bytes;
constexpr int group_bytes = group_rows * row_bytes;

// Shared memory: this, the query tile, the ring of tiles of 64 keys and 64 columns of K or V.
// The eight 16-byte pieces of a row are permuted by the row's number, so that eight rows of one
// column of pieces lie in different banks.
struct MmaShared {
  Slots slots[2];
  std::int32_t query_row[128], cluster[128];
};

/// Where a piece of a row lies in a tile.
__device__ inline int swizzled(int row, int piece) {
  return row * row_bytes + (piece ^ row % row_pieces) * 16;
}

/// Starts copying columns [column, column + 64) of the named rows; zeros for rows of -1 and beyond
/// the matrix.
__device__ inline void load_rows_16(char* tile, Rows16 from, int column, const std::int32_t* row,
                                    int count) {
  constexpr int values = 8;
  const int piece = static_cast<int>(threadIdx.x) % row_pieces, at = column + piece * values,
            rows_at_once = static_cast<int>(blockDim.x) / row_pieces;
  const bool inside = at < from.stride;
  const std::uint16_t* const first = from.data + (inside ? at : 0);
#pragma unroll 2
  for (int r = static_cast<int>(threadIdx.x) / row_pieces; r < count; r += rows_at_once) {
    const std::int32_t its = row[r];
    copy_16_async(tile + swizzled(r, piece),
                  first + static_cast<std::int64_t>(max(its, 0)) * from.stride, inside && its >= 0);
  }
}

/// A tile of a matrix: in fp32_split the high and the low part of each chunk in turn.
template <int Copies>
__device__ __forceinline__ void load_part(char* tile, const Rows16& from, int part,
                                          const std::int32_t* row, int count) {
  Rows16 its = from;
  if (part % Copies > 0) its.data += from.low;
  load_rows_16(tile, its, part / Copies * chunk, row, count);
}

}  // namespace fovea::cuda
