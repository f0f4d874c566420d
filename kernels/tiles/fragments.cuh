// What the kernels of attention on tensor cores do with the sums of products that a thread holds:
// of two queries, h = 0 and 1, and of columns 8 j + column + e, e = 0 and 1, in x[j][2 h + e].
#pragma once

#include "tiles/attend_args.h"
#include "tiles/merged_state.cuh"
#include "tiles/query_tile.cuh"

namespace fovea::cuda {

/// Which of the pairs of a thread count in 8 groups of columns, whose first slot of this thread is
/// `first`: bit 2 i + h says so of its i-th slot and query h. A loop of its own, since its
/// instructions once for every pair would be most of a kernel.
template <int Keys>
__device__ __forceinline__ std::uint32_t counting_pairs(const Lists& lists,
                                                        const KeySlots<Keys>& slots, int first,
                                                        int row, const std::int32_t* query) {
  std::uint32_t bits = 0;
#pragma unroll 1
  for (int i = 0; i < 16; ++i) {
    const int slot = first + i / 2 * 8 + i % 2;
#pragma unroll
    for (int h = 0; h < 2; ++h)
      bits |= static_cast<std::uint32_t>(counts(lists, slots, slot, row + 8 * h, query[h]))
              << (2 * i + h);
  }
  return bits;
}

/// Logits of the keys of a KV tile, weighted; -inf where a pair does not count. The rows of the
/// query tile are `row` and `row` + 8, query: their clusters. `Changes`: the rule of a head may
/// change logits.
template <bool Changes, int Groups>
__device__ __forceinline__ void weigh_and_mask(float (&s)[Groups][4], int row,
                                               const std::int32_t* query, int column,
                                               const KvTile& kv_tile,
                                               const KeySlots<8 * Groups>& slots,
                                               const Lists& lists) {
  if (kv_tile.even && !kv_tile.masked) return;
  if (kv_tile.banded) {
#pragma unroll
    for (int j = 0; j < Groups; ++j)
#pragma unroll
      for (int e = 0; e < 2; ++e) {
        const int slot = 8 * j + column + e;
        const float weight = slots.weight[slot];
        const std::int32_t cluster = slots.cluster[slot], lo = slots.lo[slot], hi = slots.hi[slot];
#pragma unroll
        for (int h = 0; h < 2; ++h) {
          const std::int32_t apart = query[h] - cluster;
          float& logit = s[j][2 * h + e];
          logit = apart < lo || apart > hi ? -INFINITY : logit + weight;
        }
      }
    return;
  }
#pragma unroll
  for (int first = 0; first < Groups; first += 8) {
    const std::uint32_t bits =
        kv_tile.masked ? counting_pairs(lists, slots, 8 * first + column, row, query) : 0xffffffffu;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const int j = first + i / 2, e = i % 2, slot = 8 * j + column + e;
      const float weight = slots.weight[slot];
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float& logit = s[j][2 * h + e];
        if (Changes && lists.head.changes)
          logit = changed(lists.head, query[h], slots.cluster[slot], logit);
        logit = bits >> (2 * i + h) & 1 ? logit + weight : -INFINITY;
      }
    }
  }
}

/// The largest of `least` and the logits of row h that this thread has.
template <int Groups>
__device__ __forceinline__ float largest_of_thread(const float (&s)[Groups][4], int h,
                                                   float least) {
#pragma unroll
  for (int j = 0; j < Groups; ++j) least = fmaxf(least, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
  return least;
}

/// The largest of the four threads that share rows, by all lanes of the warp.
__device__ __forceinline__ float largest_of_lanes(float largest) {
#pragma unroll
  for (int flip = 1; flip < 4; flip *= 2)
    largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, flip));
  return largest;
}

/// The largest of `least` and the logits of row h, by all lanes of the warp.
template <int Groups>
__device__ __forceinline__ float largest_of_row(const float (&s)[Groups][4], int h, float least) {
  return largest_of_lanes(largest_of_thread(s, h, least));
}

/// Merges the results of rows `row` and `row` + 8 of a query tile into the states of their queries.
/// The sums are those of this thread's keys; the four threads of a row have the others. By all
/// lanes of the warp.
template <int Groups>
__device__ __forceinline__ void write_rows(const AttendArgs& a, const QueryTile& query_tile,
                                           int row, int column, const std::int32_t* query,
                                           const float* maximum, const float* sum,
                                           const float (&z)[Groups][4]) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    float its_sum = sum[h];
#pragma unroll
    for (int flip = 1; flip < 4; flip *= 2) its_sum += __shfl_xor_sync(0xffffffffu, its_sum, flip);
    const int r = row + 8 * h;
    const bool present = r < query_tile.row_count, last = a.states.last && !query_tile.part;
    const std::int32_t at_state = query_tile.state_base + (query_tile.part ? r : query[h]);
    const MergedState state(maximum[h], its_sum, present && !a.states.last && !query_tile.part,
                            a.states.sum + at_state, a.states.maximum + at_state, last);
    __syncwarp();  // all four threads of the row have read the state
    if (!present) continue;
    if (column == 0) {
      a.states.sum[at_state] = state.sum;
      a.states.maximum[at_state] = state.maximum;
    }
    float* out = a.states.z + static_cast<std::size_t>(at_state) * a.states.z_stride;
#pragma unroll
    for (int j = 0; j < Groups; ++j) {
      const int its_column = 8 * j + column;
      if (its_column >= a.states.dv) continue;
      float2 value = make_float2(z[j][2 * h] * state.ours, z[j][2 * h + 1] * state.ours);
      float2* at = reinterpret_cast<float2*>(out + its_column);
      if (state.joined) {
        const float2 old = *at;
        value = make_float2(value.x + old.x * state.theirs, value.y + old.y * state.theirs);
      }
      *at = value;
    }
  }
}

}  // namespace fovea::cuda
