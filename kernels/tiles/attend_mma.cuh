// The kernel of attend_mma, after FlashAttention-2 (Dao 2023): a warp goes through the keys of 16
// or 32 queries, holds logits, weights and Z in registers in the layout of the instructions, and
// shares tiles of keys and values with the other warps of the query tile.
#pragma once

#include <type_traits>

#include "tiles/attend_mma.h"
#include "tiles/fragments.cuh"
#include "tiles/mma_products.cuh"
#include "tiles/query_tile.cuh"
#include "tiles/segment_tracker.cuh"

namespace fovea::cuda {

template <Precision P, int DepthChunks, int ValueChunks, int Groups, bool Maps>
class MmaAttention {
  using Products = MmaProducts<P, DepthChunks, ValueChunks, Groups>;
  using Logits = typename Products::Logits;
  using Weights = typename Products::Weights;
  static constexpr int copies = Products::copies, depth_tiles = Products::depth_tiles,
                       value_tiles = Products::value_tiles, warp_rows = Products::warp_rows,
                       key_groups = Products::key_groups, value_groups = Products::value_groups;
  static constexpr bool split = Products::split;
  static constexpr float shift = Products::shift;
  // The largest weight: so that those 2^29 times smaller keep their bits.
  static constexpr float one = split ? 0x1p15f : 1.0f;

 public:
  __device__ MmaAttention(const AttendArgs& args, const MmaOperands& operands)
      : a_(args),
        operands_(operands),
        query_tile_(args.queries.tiles[blockIdx.x]),
        shared_(*dynamic_shared<MmaShared>()),
        height_(static_cast<int>(blockDim.x) / 32 * warp_rows),
        depth_tiles_(DepthChunks > 0 ? depth_tiles : (args.d + chunk - 1) / chunk * copies),
        queries_(dynamic_shared<char>() + sizeof(MmaShared)),
        tiles_(queries_ + depth_tiles_ * height_ * row_bytes),
        row_(static_cast<int>(threadIdx.x) / 32 * warp_rows +
             static_cast<int>(threadIdx.x) % 32 / 4),
        column_(static_cast<int>(threadIdx.x) % 4 * 2),
        products_(queries_, height_),
        segments_(make_segments(args.segments, row_, height_)) {}

  __device__ void run() {
    begin();
    KeyIterator iterator = first_keys(query_tile_, a_.queries.lists);
    kv_tile_ = next_kv_tile(iterator, a_.queries.lists, false, shared_.slots[0]);
    next_ = next_kv_tile(iterator, a_.queries.lists, false, shared_.slots[1]);
    __syncthreads();
    start();
    while (kv_tile_.keys > 0) {
      Logits s = {};
      find_logits(s);
      Weights p[Groups];
#pragma unroll
      for (int g = 0; g < Groups; ++g) {
        weigh_and_mask<true>(s[g], row_ + group_rows * g, cluster_ + 2 * g, column_, kv_tile_,
                             shared_.slots[parity_], a_.queries.lists);
        take_logits(s[g], g);
        softmax_step(s[g], p[g], maximum_ + 2 * g, sum_ + 2 * g, products_.z[g]);
        take_weights(s[g], g);
      }
      KvTile after{};
#pragma unroll
      for (int part = 0; part < value_tiles; ++part) {
        const char* tile = arrive(depth_tiles_ + part);
        // All threads have read the slots of this KV tile.
        if (part + 1 == value_tiles)
          after = next_kv_tile(iterator, a_.queries.lists, false, shared_.slots[parity_]);
        if constexpr (split)
          products_.add_split_values(p, tile, part);
        else
          products_.add_values(p, tile, part);
      }
      kv_tile_ = next_;
      next_ = after;
      parity_ ^= 1;
    }
    wait_copies<0>();
    if constexpr (Maps)
#pragma unroll
      for (int g = 0; g < Groups; ++g) segments_[g].finish();
    if constexpr (split) unscale();
    write();
  }

 private:
  using Segments = std::conditional_t<Maps, MmaSegments, NoSegments>;
  __device__ static Segments make_segments(const SegmentArgs& args, int row, int height) {
    if constexpr (Maps)
      return Segments(args, row, height);
    else
      return Segments(args);
  }

  __device__ void begin() {
    find_query_rows(query_tile_, a_.queries.lists, height_, shared_.cluster, shared_.query_row,
                    static_cast<int>(blockDim.x));
#pragma unroll
    for (int h = 0; h < 2 * Groups; ++h) {
      maximum_[h] = -INFINITY;
      sum_[h] = 0;
    }
#pragma unroll
    for (int g = 0; g < Groups; ++g)
#pragma unroll
      for (int j = 0; j < value_groups; ++j)
#pragma unroll
        for (int c = 0; c < 4; ++c) products_.z[g][j][c] = 0;
  }

  // Q and the first tiles; all threads have met.
  __device__ void start() {
#pragma unroll
    for (int h = 0; h < 2 * Groups; ++h) cluster_[h] = shared_.cluster[row_ + 8 * h];
    for (int part = 0; part < depth_tiles_; ++part)
      load_part<copies>(queries_ + part * height_ * row_bytes, operands_.q, part, shared_.query_row,
                        height_);
    for (int part = 0; part < tile_ahead; ++part) load(part, part, 0, kv_tile_.keys > 0);
    if constexpr (DepthChunks > 0) {
      wait_copies<tile_ahead - 1>();
      __syncthreads();
      products_.take_queries();
    }
  }

  // The parts of a KV tile, two or more: 64 columns of K each, then of V.
  __device__ void load(int place, int part, int parity, bool any) {
    if (any) {
      char* tile = tiles_ + place * tile_bytes;
      const std::int32_t* rows = shared_.slots[parity].key_row;
      if (part < depth_tiles_)
        load_part<copies>(tile, operands_.k, part, rows, kv_tile_keys);
      else
        load_part<copies>(tile, operands_.v, part - depth_tiles_, rows, kv_tile_keys);
    }
    commit_copies();
  }

  // Waits for a part of this KV tile, and starts the copy of the second one from there to where the
  // part before this one was.
  __device__ const char* arrive(int part) {
    wait_copies<tile_ahead - 1>();
    __syncthreads();
    const int ahead = part + tile_ahead, parts = depth_tiles_ + value_tiles;
    const bool here = ahead < parts;
    load(place_ == 0 ? tile_ring - 1 : place_ - 1, here ? ahead : ahead - parts,
         here ? parity_ : parity_ ^ 1, here || next_.keys > 0);
    const char* tile = tiles_ + place_ * tile_bytes;
    place_ = place_ + 1 == tile_ring ? 0 : place_ + 1;
    return tile;
  }

  // The logits of a KV tile, in log2 units; s is 0.
  __device__ void find_logits(Logits& s) {
    float low[split ? Groups : 1][key_groups][4] = {};
#pragma unroll
    for (int part = 0; part < (DepthChunks > 0 ? depth_tiles : depth_tiles_); part += copies) {
      if constexpr (split) {  // low: of high and low parts, and of low and high ones
        products_.add_logits(part, arrive(part), s, low);
        products_.add_logits(part, arrive(part + 1), low);
      } else {
        products_.add_logits(part, arrive(part), s);
      }
    }
    if constexpr (split)
#pragma unroll
      for (int g = 0; g < Groups; ++g)
#pragma unroll
        for (int j = 0; j < key_groups; ++j)
#pragma unroll
          for (int c = 0; c < 4; ++c)
            s[g][j][c] = fmaf(low[g][j][c], 1 / shift, s[g][j][c]) * operands_.logit_factor;
  }

  // What maps need of a group, before and after its softmax step.
  __device__ void take_logits(const float (&s)[key_groups][4], int group) {
    if constexpr (Maps) {
      const int first = shared_.slots[parity_].cluster[0];
      whole_ = segments_[group].in_one_column(first, kv_tile_.keys);
      if (!whole_) segments_[group].take_logits(s, first, kv_tile_.keys);
    }
  }
  __device__ void take_weights(const float (&weights)[key_groups][4], int group) {
    if constexpr (Maps) {
      const int first = shared_.slots[parity_].cluster[0];
      const float* reference = maximum_ + 2 * group;
      if (whole_)
        segments_[group].take_kv_tile(tile_most_, tile_sum_, reference, first);
      else
        segments_[group].take_weights(weights, reference, first, kv_tile_.keys);
    }
  }

  // One step of the streaming softmax of a group. The logits are where the second product expects
  // the weights; for maps they become weights.
  __device__ void softmax_step(float (&s)[key_groups][4], Weights& p, float* maximum, float* sum,
                               float (&z)[value_groups][4]) {
    float top[2];
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      top[h] = largest_of_row(s, h, Maps ? -INFINITY : maximum[h]);
      if constexpr (Maps) {
        tile_most_[h] = top[h];
        tile_sum_[h] = 0;
        top[h] = fmaxf(top[h], maximum[h]);
      }
    }
    const float reference[2] = {top[0] == -INFINITY ? 0.0f : top[0],  // avoid (-inf) - (-inf)
                                top[1] == -INFINITY ? 0.0f : top[1]};
    if (__any_sync(0xffffffffu, top[0] != maximum[0] || top[1] != maximum[1])) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const float factor = exp2_fast(maximum[h] - reference[h]);
        sum[h] *= factor;
#pragma unroll
        for (int j = 0; j < value_groups; ++j) {
          z[j][2 * h] *= factor;
          z[j][2 * h + 1] *= factor;
        }
        maximum[h] = top[h];
      }
    }
#pragma unroll
    for (int j = 0; j < key_groups; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float first = exp2_fast(s[j][2 * h] - reference[h]),
              second = exp2_fast(s[j][2 * h + 1] - reference[h]);
        if constexpr (Maps) {
          tile_sum_[h] += first + second;
          s[j][2 * h] = first;
          s[j][2 * h + 1] = second;
        }
        first *= one;
        second *= one;
        sum[h] +=
            first + second;  // of this thread's keys only: the threads' sums are added at the end
        const std::uint32_t high = pack_16<Products::factors>(first, second);
        p[0][j / 2][j % 2 * 2 + h] = high;
        if constexpr (split) {
          const float2 kept = unpack_fp16(high);
          p[1][j / 2][j % 2 * 2 + h] =
              pack_16<Products::factors>((first - kept.x) * shift, (second - kept.y) * shift);
        }
      }
  }

  // Weights were times `one` so far, and values divided by the value factor.
  __device__ void unscale() {
#pragma unroll
    for (int h = 0; h < 2 * Groups; ++h) {
      sum_[h] *= 1 / one;
#pragma unroll
      for (int j = 0; j < value_groups; ++j)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          float& z = products_.z[h / 2][j][2 * (h % 2) + e];
          z = z * (1 / one) * operands_.value_factor;
        }
    }
  }

  // Merges the result into the state of each query.
  __device__ void write() {
#pragma unroll
    for (int g = 0; g < Groups; ++g)
      write_rows(a_, query_tile_, row_ + group_rows * g, column_, cluster_ + 2 * g,
                 maximum_ + 2 * g, sum_ + 2 * g, products_.z[g]);
  }

  const AttendArgs& a_;
  const MmaOperands& operands_;
  const QueryTile& query_tile_;  // read again where needed, to save registers
  MmaShared& shared_;
  const int height_, depth_tiles_;
  char *const queries_, *const tiles_;  // [depth tiles][height][64], [ring][64][64]
  const int row_, column_;  // of the query tile and of 8 columns: what this thread's results are
  std::int32_t cluster_[2 * Groups];  // of rows row_ + 8 h
  KvTile kv_tile_, next_;
  Products products_;
  int parity_ = 0, place_ = 0;
  float maximum_[2 * Groups], sum_[2 * Groups];
  Segments segments_;
  bool whole_ = false;                // for maps: the keys of the KV tile lie in one column
  float tile_most_[2], tile_sum_[2];  // and what softmax_step found of it
};

}  // namespace fovea::cuda
