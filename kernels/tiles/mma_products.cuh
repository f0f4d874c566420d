// The products of a warp on tensor cores: of Q and K, and of weights and V, with Z in registers.
//
// In fp32_split each chunk of 64 columns is two tiles, of high and of low parts. What low parts add
// to a sum of products has an accumulator of its own, since it is kept times 2^low_shift. Sums over
// keys begin again with every tile of V and are added to Z by the fp32 lanes, because tensor cores
// cut off the last bits of what they add to.
#pragma once

#include "device/split_matrix.h"
#include "ptx.h"
#include "tiles/mma_tiles.cuh"

namespace fovea::cuda {

// DepthChunks: of 64 columns of Q and K, with Q in registers; 0 means any number of them, with Q
// read from shared memory each time, since registers cannot hold it. Groups: of 16 queries, for
// which a warp reads K and V once.
template <Precision P, int DepthChunks, int ValueChunks, int Groups>
struct MmaProducts {
  static constexpr bool split = P == Precision::fp32_split;
  static constexpr Precision factors = split ? Precision::fp16 : P;
  static constexpr int copies = split ? 2 : 1;  // of each chunk: its parts
  static constexpr float shift = 1 << low_shift;
  static constexpr int depth_tiles = copies * DepthChunks, value_tiles = copies * ValueChunks;
  static constexpr int warp_rows = Groups * group_rows;
  static constexpr int key_groups = kv_tile_keys / 8;  // columns of an instruction's result: 8
  static constexpr int value_groups = ValueChunks * chunk / 8;

  using Logits = float[Groups][key_groups][4];
  using Weights = std::uint32_t[copies][kv_tile_keys / 16][4];  // of a group

  __device__ MmaProducts(const char* queries_of_block, int rows_of_block)
      : queries(queries_of_block + static_cast<int>(threadIdx.x) / 32 * Groups * group_bytes),
        height(rows_of_block) {
    const int lane = static_cast<int>(threadIdx.x) % 32, matrix = lane / 8, row = lane % 8;
    down = (matrix % 2 * 8 + row) * row_bytes + (matrix / 2 ^ row) * 16;
    across = (matrix / 2 * 8 + row) * row_bytes + (matrix % 2 ^ row) * 16;
  }

  __device__ void take_queries() {
#pragma unroll
    for (int g = 0; g < Groups; ++g)
#pragma unroll
      for (int i = 0; i < 4 * depth_tiles; ++i) load_query(q[g][i], g, i / 4, i % 4);
  }

  // Columns [16 i, 16 i + 16) of a tile of a group of the warp's queries.
  __device__ void load_query(std::uint32_t (&a)[4], int group, int part, int i) const {
    load_matrices(a, queries + part * height * row_bytes + group * group_bytes + (down ^ i * 32));
  }
  // The same from registers, if they hold it.
  __device__ void take_query(std::uint32_t (&a)[4], int group, int part, int i) const {
    if constexpr (DepthChunks > 0) {
#pragma unroll
      for (int r = 0; r < 4; ++r) a[r] = q[group][part * 4 + i][r];
    } else {
      load_query(a, group, part, i);
    }
  }

  // Adds the products of a tile of K with tiles part, part + 1, ... of Q, each to a sum of its own.
  template <class... Sums>
  __device__ void add_logits(int part, const char* tile, Sums&... sums) const {
#pragma unroll
    for (int i = 0; i < chunk / 16; ++i) {
      std::uint32_t its[sizeof...(sums)][Groups][4];
#pragma unroll
      for (int copy = 0; copy < static_cast<int>(sizeof...(sums)); ++copy)
#pragma unroll
        for (int g = 0; g < Groups; ++g) take_query(its[copy][g], g, part + copy, i);
#pragma unroll
      for (int j = 0; j < kv_tile_keys / 16; ++j) {
        std::uint32_t k[4];
        load_matrices(k, tile + j * group_bytes + (across ^ i * 32));
#pragma unroll
        for (int g = 0; g < Groups; ++g) {
          int copy = 0;
          ((multiply_add<factors>(sums[g][2 * j], its[copy][g], k[0], k[1]),
            multiply_add<factors>(sums[g][2 * j + 1], its[copy++][g], k[2], k[3])),
           ...);
        }
      }
    }
  }

  __device__ void add_values(const Weights (&p)[Groups], const char* tile, int part) {
#pragma unroll
    for (int i = 0; i < kv_tile_keys / 16; ++i)
#pragma unroll
      for (int j = 0; j < chunk / 16; ++j) {
        std::uint32_t v[4];
        load_transposed(v, tile + i * group_bytes + (down ^ j * 32));
#pragma unroll
        for (int g = 0; g < Groups; ++g) {
          multiply_add<factors>(z[g][part * 8 + 2 * j], p[g][0][i], v[0], v[1]);
          multiply_add<factors>(z[g][part * 8 + 2 * j + 1], p[g][0][i], v[2], v[3]);
        }
      }
  }

  // The same of high parts of V, which meet both parts of the weights, or of low parts, which meet
  // the high ones.
  __device__ void add_split_values(const Weights (&p)[Groups], const char* tile, int part) {
    const bool both = part % copies == 0;
#pragma unroll
    for (int j = 0; j < chunk / 16; ++j) {
      float high[Groups][2][4] = {}, low[Groups][2][4] = {};
#pragma unroll
      for (int i = 0; i < kv_tile_keys / 16; ++i) {
        std::uint32_t v[4];
        load_transposed(v, tile + i * group_bytes + (down ^ j * 32));
#pragma unroll
        for (int g = 0; g < Groups; ++g)
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const std::uint32_t first = v[2 * half], second = v[2 * half + 1];
            if (both) multiply_add<factors>(high[g][half], p[g][0][i], first, second);
            multiply_add<factors>(low[g][half], p[g][both ? copies - 1 : 0][i], first, second);
          }
      }
#pragma unroll
      for (int g = 0; g < Groups; ++g)
#pragma unroll
        for (int half = 0; half < 2; ++half)
#pragma unroll
          for (int c = 0; c < 4; ++c) {
            float& sum = z[g][part / copies * 8 + 2 * j + half][c];
            const float more = fmaf(low[g][half][c], 1 / shift, high[g][half][c]);
            sum += more;
          }
    }
  }

  const char* const queries;  // of the warp: [depth tiles][height][64]
  const int height;
  int down, across;  // where this lane's row of four matrices lies in 16 rows: the first two below
                     // each other, or beside each other
  std::uint32_t q[Groups][DepthChunks > 0 ? 4 * depth_tiles : 1][4];
  float z[Groups][value_groups][4];
};

}  // namespace fovea::cuda
