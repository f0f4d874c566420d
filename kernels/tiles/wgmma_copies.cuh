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

/// Two warps copy K, and two V, so that neither waits for the other. In each phase of a barrier
/// there are as many arrivals, and some of each warp, so that none lags behind: each thread arrives
/// for what it has done itself, or the first lane for a warp that has only read. (A lane could also
/// arrive for what others have done, after a barrier, but compute-sanitizer does not see that.)
constexpr int copy_threads = warpgroup / 2;

/// By all threads that copy K or V. `first_alone`: only the first thread has written something.
__device__ __forceinline__ void arrive_as_threads(PhaseBarrier& barrier, bool first_alone,
                                                  int thread) {
  if (!first_alone)
    arrive(&barrier);
  else if (thread % 32 == 0)
    arrive(&barrier, 32);
}

/// Copies a KV tile by copy_threads threads, which arrive at `full` as often: a box that begins
/// with row `first_row`, or, where that is -1, the rows in `rows`. A warp copies every second 32 of
/// them, those that its own lanes have written if each thread has written every copy_threads-th.
template <int Chunks>
__device__ __forceinline__ void copy_kv_tile(char* tile, const CUtensorMap& map, Rows16 from,
                                             std::int32_t first_row, const std::int32_t* rows,
                                             PhaseBarrier& full, int thread) {
  __syncwarp();  // all lanes have read what the KV tile is, and written or seen its rows
  if (first_row < 0) {
    const int lane = thread % 32, piece = lane % row_pieces;
#pragma unroll 1
    for (int first = thread / 32 * 32; first < wide_keys; first += copy_threads)
#pragma unroll 4
      for (int slot = first + lane / row_pieces; slot < first + 32; slot += 32 / row_pieces)
        copy_pieces<Chunks>(tile + swizzled(slot, piece), wide_tile_bytes, from, rows[slot], piece);
    return arrive_after_copies(&full);
  }
  if (thread % 32 > 0) return;
  if (thread > 0) return arrive(&full, 32);
  arrive_expecting(&full, Chunks * wide_tile_bytes);
  arrive(&full, 31);
#pragma unroll
  for (int part = 0; part < Chunks; ++part)
    copy_box_async(tile + part * wide_tile_bytes, &map, part * chunk, first_row, &full);
}

}  // namespace fovea::cuda
