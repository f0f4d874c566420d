// The kernel of attend_mma, after FlashAttention-2 (Dao 2023): a warp goes through the keys of 16
// queries, holds logits, weights and Z in registers in the layout of the instructions, and shares
// tiles of keys and values with the other warps of the strip.
#pragma once

#include <algorithm>
#include <string>

#include "device/launch.h"
#include "tiles/attend.h"
#include "tiles/attend_mma.h"
#include "tiles/merged_state.cuh"
#include "tiles/strip.cuh"

namespace fovea::cuda {

constexpr int warp_rows = 16;  // queries of a warp
constexpr int tile_ring = 3;   // tiles: one is read while two are copied
constexpr int tile_ahead = tile_ring - 1;
constexpr int row_bytes = 2 * chunk;  // of a tile: 64 values, which take every bank once
constexpr int tile_bytes = step_keys * row_bytes;
constexpr int group_bytes = 16 * row_bytes;  // 16 rows, as one instruction takes them

// Shared memory: this, Q of the strip, the ring of tiles of 64 keys and 64 columns of K or V. The
// eight 16-byte pieces of a row are permuted by the row's number, so that eight rows of one column
// of pieces lie in different banks.
struct MmaShared {
  Slots slots[2];
  std::int32_t query_row[128], cluster[128];
};

/// Starts copying columns [column, column + 64) of the named rows; zeros for rows of -1 and beyond
/// the matrix.
__device__ inline void load_rows_16(char* tile, Rows16 from, int column, const std::int32_t* row,
                                    int count) {
  constexpr int pieces = row_bytes / 16, values = 8;
  for (int i = static_cast<int>(threadIdx.x); i < count * pieces;
       i += static_cast<int>(blockDim.x)) {
    const int r = i / pieces, piece = i % pieces, at = column + piece * values;
    const bool valid = row[r] >= 0 && at < from.stride;
    const std::uint16_t* source =
        valid ? from.data + static_cast<std::size_t>(row[r]) * from.stride + at : from.data;
    copy_16_async(tile + r * row_bytes + (piece ^ (r % pieces)) * 16, source, valid);
  }
}

// DepthChunks: of 64 columns of Q and K, with Q in registers; 0: any number of them, with Q read
// from shared memory each time, since registers cannot hold it.
template <Precision P, int DepthChunks, int ValueChunks>
class MmaAttention {
  static constexpr int key_groups = step_keys / 8;  // columns of an instruction's result: 8
  static constexpr int value_groups = ValueChunks * chunk / 8;

 public:
  __device__ explicit MmaAttention(const AttendMmaArgs& args)
      : a_(args),
        strip_(args.strips[blockIdx.x]),
        shared_(*dynamic_shared<MmaShared>()),
        height_(static_cast<int>(blockDim.x) / 32 * warp_rows),
        depth_chunks_(DepthChunks > 0 ? DepthChunks : (args.d + chunk - 1) / chunk),
        queries_(dynamic_shared<char>() + sizeof(MmaShared)),
        tiles_(queries_ + depth_chunks_ * height_ * row_bytes) {
    const int lane = static_cast<int>(threadIdx.x) % 32, matrix = lane / 8, row = lane % 8;
    down_ = (matrix % 2 * 8 + row) * row_bytes + (matrix / 2 ^ row) * 16;
    across_ = (matrix / 2 * 8 + row) * row_bytes + (matrix % 2 ^ row) * 16;
    warp_queries_ = queries_ + static_cast<int>(threadIdx.x) / 32 * group_bytes;
    row_ = static_cast<int>(threadIdx.x) / 32 * warp_rows + lane / 4;
    column_ = lane % 4 * 2;
  }

  __device__ void run() {
    begin();
    Walk walk = begin_walk(strip_, a_.lists);
    step_ = next_step(walk, a_.lists, false, shared_.slots[0]);
    next_ = next_step(walk, a_.lists, false, shared_.slots[1]);
    __syncthreads();
    start();
    while (step_.keys > 0) {
      float s[key_groups][4] = {};
#pragma unroll
      for (int part = 0; part < (DepthChunks > 0 ? DepthChunks : depth_chunks_); ++part)
        add_logits(s, part, arrive(part));
      weigh_and_mask(s);
      std::uint32_t p[step_keys / 16][4];
      soften(s, p);
      Step after{};
#pragma unroll
      for (int part = 0; part < ValueChunks; ++part) {
        const char* tile = arrive(depth_chunks_ + part);
        // All threads have read the slots of this step.
        if (part + 1 == ValueChunks)
          after = next_step(walk, a_.lists, false, shared_.slots[parity_]);
        add_values(p, tile, part);
      }
      step_ = next_;
      next_ = after;
      parity_ ^= 1;
    }
    wait_copies<0>();
    write();
  }

 private:
  __device__ void begin() {
    for (int r = static_cast<int>(threadIdx.x); r < height_; r += static_cast<int>(blockDim.x)) {
      std::int32_t cluster = 0, row = -1;
      if (r < strip_.row_count) {
        const std::int32_t position = strip_.first_row + r;
        cluster = strip_.rows < 0 ? position : a_.lists.indices[strip_.rows + position];
        row = strip_.query_base + (cluster << strip_.query_shift);
      }
      shared_.cluster[r] = cluster;
      shared_.query_row[r] = row;
    }
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      maximum_[h] = -INFINITY;
      sum_[h] = 0;
    }
#pragma unroll
    for (int j = 0; j < value_groups; ++j)
#pragma unroll
      for (int c = 0; c < 4; ++c) z_[j][c] = 0;
  }

  // Q and the first tiles; all threads have met.
  __device__ void start() {
    cluster_[0] = shared_.cluster[row_];
    cluster_[1] = shared_.cluster[row_ + 8];
    for (int part = 0; part < depth_chunks_; ++part)
      load_rows_16(queries_ + part * height_ * row_bytes, a_.q, part * chunk, shared_.query_row,
                   height_);
    for (int part = 0; part < tile_ahead; ++part) load(part, part, 0, step_.keys > 0);
    if constexpr (DepthChunks > 0) {
      wait_copies<tile_ahead - 1>();
      __syncthreads();
#pragma unroll
      for (int i = 0; i < 4 * DepthChunks; ++i) load_query(q_[i], i / 4, i % 4);
    }
  }

  // A part of a step is a tile: first the columns of K, then those of V. There are two or more.
  __device__ void load(int place, int part, int parity, bool any) {
    if (any) {
      char* tile = tiles_ + place * tile_bytes;
      const std::int32_t* rows = shared_.slots[parity].key_row;
      if (part < depth_chunks_)
        load_rows_16(tile, a_.k, part * chunk, rows, step_keys);
      else
        load_rows_16(tile, a_.v, (part - depth_chunks_) * chunk, rows, step_keys);
    }
    commit_copies();
  }

  // Waits for a part of this step, and starts the copy of the second one from there to where the
  // part before this one was.
  __device__ const char* arrive(int part) {
    wait_copies<tile_ahead - 1>();
    __syncthreads();
    const int ahead = part + tile_ahead, parts = depth_chunks_ + ValueChunks;
    const bool here = ahead < parts;
    load(place_ == 0 ? tile_ring - 1 : place_ - 1, here ? ahead : ahead - parts,
         here ? parity_ : parity_ ^ 1, here || next_.keys > 0);
    const char* tile = tiles_ + place_ * tile_bytes;
    place_ = place_ + 1 == tile_ring ? 0 : place_ + 1;
    return tile;
  }

  // Columns [16 i, 16 i + 16) of a chunk of the warp's queries.
  __device__ void load_query(std::uint32_t (&a)[4], int part, int i) const {
    load_matrices(a, warp_queries_ + part * height_ * row_bytes + (down_ ^ i * 32));
  }

  __device__ void add_logits(float (&s)[key_groups][4], int part, const char* tile) const {
#pragma unroll
    for (int i = 0; i < chunk / 16; ++i) {
      std::uint32_t q[4];
      if constexpr (DepthChunks > 0) {
#pragma unroll
        for (int r = 0; r < 4; ++r) q[r] = q_[part * 4 + i][r];
      } else {
        load_query(q, part, i);
      }
#pragma unroll
      for (int j = 0; j < step_keys / 16; ++j) {
        std::uint32_t k[4];
        load_matrices(k, tile + j * group_bytes + (across_ ^ i * 32));
        multiply_add<P>(s[2 * j], q, k[0], k[1]);
        multiply_add<P>(s[2 * j + 1], q, k[2], k[3]);
      }
    }
  }

  // s[j][c] is the logit of row row_ + 8 (c / 2) and the key in slot 8 j + column_ + c % 2.
  __device__ void weigh_and_mask(float (&s)[key_groups][4]) const {
    if (step_.even && !step_.masked) return;
    const Slots& slots = shared_.slots[parity_];
#pragma unroll
    for (int j = 0; j < key_groups; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int slot = 8 * j + column_ + e;
        const float weight = slots.weight[slot];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          float& logit = s[j][2 * h + e];
          if (a_.lists.head.changes)
            logit = changed(a_.lists.head, cluster_[h], slots.cluster[slot], logit);
          logit += weight;
          if (step_.masked && !counts(a_.lists, slots, slot, cluster_[h])) logit = -INFINITY;
        }
      }
  }

  // One step of the streaming softmax. The logits are where the second product expects the weights.
  __device__ void soften(const float (&s)[key_groups][4], std::uint32_t (&p)[step_keys / 16][4]) {
    float top[2] = {maximum_[0], maximum_[1]};
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int j = 0; j < key_groups; ++j)
        top[h] = fmaxf(top[h], fmaxf(s[j][2 * h], s[j][2 * h + 1]));
#pragma unroll
      for (int flip = 1; flip < 4; flip *= 2)
        top[h] = fmaxf(top[h], __shfl_xor_sync(0xffffffffu, top[h], flip));
    }
    const float reference[2] = {top[0] == -INFINITY ? 0.0f : top[0],  // avoid (-inf) - (-inf)
                                top[1] == -INFINITY ? 0.0f : top[1]};
    if (__any_sync(0xffffffffu, top[0] != maximum_[0] || top[1] != maximum_[1])) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float factor = exp2_fast(maximum_[h] - reference[h]);
        sum_[h] *= factor;
#pragma unroll
        for (int j = 0; j < value_groups; ++j) {
          z_[j][2 * h] *= factor;
          z_[j][2 * h + 1] *= factor;
        }
        maximum_[h] = top[h];
      }
    }
#pragma unroll
    for (int j = 0; j < key_groups; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float first = exp2_fast(s[j][2 * h] - reference[h]),
                    second = exp2_fast(s[j][2 * h + 1] - reference[h]);
        sum_[h] +=
            first + second;  // of this thread's keys only: the threads' sums are added at the end
        p[j / 2][j % 2 * 2 + h] = pack_16<P>(first, second);
      }
  }

  __device__ void add_values(const std::uint32_t (&p)[step_keys / 16][4], const char* tile,
                             int part) {
#pragma unroll
    for (int i = 0; i < step_keys / 16; ++i)
#pragma unroll
      for (int j = 0; j < chunk / 16; ++j) {
        std::uint32_t v[4];
        load_transposed(v, tile + i * group_bytes + (down_ ^ j * 32));
        multiply_add<P>(z_[part * 8 + 2 * j], p[i], v[0], v[1]);
        multiply_add<P>(z_[part * 8 + 2 * j + 1], p[i], v[2], v[3]);
      }
  }

  // Merges the result into the state of each query.
  __device__ void write() {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
#pragma unroll
      for (int flip = 1; flip < 4; flip *= 2)
        sum_[h] += __shfl_xor_sync(0xffffffffu, sum_[h], flip);
      const bool present = row_ + 8 * h < strip_.row_count;
      const std::int32_t row = strip_.state_base + cluster_[h];
      const MergedState state(maximum_[h], sum_[h], present && !a_.last, a_.sum + row,
                              a_.maximum + row, a_.last);
      __syncwarp();  // all four threads of the row have read the state
      if (!present) continue;
      if (column_ == 0) {
        a_.sum[row] = state.sum;
        a_.maximum[row] = state.maximum;
      }
      float* out = a_.z + static_cast<std::size_t>(row) * a_.z_stride;
#pragma unroll
      for (int j = 0; j < value_groups; ++j) {
        const int column = 8 * j + column_;
        if (column >= a_.dv) continue;
        float2 value = make_float2(z_[j][2 * h] * state.ours, z_[j][2 * h + 1] * state.ours);
        float2* at = reinterpret_cast<float2*>(out + column);
        if (state.joined) {
          const float2 old = *at;
          value = make_float2(value.x + old.x * state.theirs, value.y + old.y * state.theirs);
        }
        *at = value;
      }
    }
  }

  const AttendMmaArgs& a_;
  const Strip& strip_;  // read again where needed, to save registers
  MmaShared& shared_;
  const int height_, depth_chunks_;
  char *const queries_, *const tiles_;  // [depth chunks][height][64], [ring][64][64]
  const char* warp_queries_;
  int down_, across_;  // where this lane's row of four matrices lies in 16 rows: the first two
                       // below each other, or beside each other
  int row_, column_;   // of the strip and of 8 columns: what this thread's results are
  std::int32_t cluster_[2];
  Step step_, next_;
  int parity_ = 0, place_ = 0;
  std::uint32_t q_[DepthChunks > 0 ? 4 * DepthChunks : 1][4];
  float maximum_[2], sum_[2], z_[value_groups][4];
};

template <Precision P, int DepthChunks, int ValueChunks>
__global__ void __launch_bounds__(256) attend_mma_kernel(const AttendMmaArgs args) {
  MmaAttention<P, DepthChunks, ValueChunks>(args).run();
}

template <Precision P, int DepthChunks, int ValueChunks>
void launch_attend_mma(const AttendMmaArgs& args, int height, cudaStream_t stream) {
  launch(attend_mma_kernel<P, DepthChunks, ValueChunks>,
         {.grid = dim3(static_cast<unsigned>(args.count)),
          .block = dim3(static_cast<unsigned>(height / warp_rows * 32)),
          .shared_bytes = attend_mma_shared_bytes(height, args.d),
          .stream = stream},
         args);
}

template <Precision P, int DepthChunks>
void choose_mma_values(const AttendMmaArgs& args, int height, cudaStream_t stream) {
  if (args.dv <= chunk)
    launch_attend_mma<P, DepthChunks, 1>(args, height, stream);
  else
    launch_attend_mma<P, DepthChunks, 2>(args, height, stream);
}

template <Precision P>
void attend_mma(const AttendMmaArgs& args, int height, cudaStream_t stream) {
  if (std::ranges::find(strip_heights, height) == strip_heights.end())
    refuse("strips of " + std::to_string(height) + " queries");
  if (args.dv < 1 || args.dv > 4 * chunk)
    refuse("attention on tensor cores with " + std::to_string(args.dv) + " columns of values");
  if (args.dv > 2 * chunk) return launch_attend_mma<P, 0, 4>(args, height, stream);
  if (args.d > 2 * chunk) return choose_mma_values<P, 0>(args, height, stream);
  if (args.d > chunk) return choose_mma_values<P, 2>(args, height, stream);
  choose_mma_values<P, 1>(args, height, stream);
}

}  // namespace fovea::cuda
