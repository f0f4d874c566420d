// Attention on the fp32 lanes. For d, dv <= 64, counted by nvcc 13.0 for 9.0:
//   queries  threads  registers  shared memory  blocks on a multiprocessor  bound by
//        16      128         92         47 KiB                           4  reads of shared memory
//        64      128        168         73 KiB                           3  reads of shared memory
//       128      128        242        108 KiB                           2  them and multiply-adds
// With maps they have 115, 168 and 247 registers, and as many blocks as without. Where a
// multiprocessor has less shared memory (7.5: 64 KiB, 8.6, 8.9 and 12.0: 100 KiB), blocks of 64
// queries are frugal: they have 46 KiB, and wait for copies that others make ahead.
#include <algorithm>
#include <string>
#include <type_traits>

#include "device/launch.h"
#include "tiles/attend.h"
#include "tiles/merged_state.cuh"
#include "tiles/query_tile.cuh"
#include "tiles/segment_tracker.cuh"

namespace fovea::cuda {
namespace {

// Shared memory: this, the query tile, two tiles of K or V (one is read while the other is copied),
// P. If frugal: the query tile, a tile of K, which P overwrites, half a tile of V.
template <int Height, bool Frugal>
struct Shared {
  Slots slots[Frugal ? 1 : 2];
  std::int32_t query_row[Height], cluster[Height];

  static constexpr std::size_t header =
      (sizeof slots + sizeof(std::int32_t) * 2 * Height + 15) / 16 * 16;
  static constexpr int rows = Frugal ? kv_tile_keys * 3 / 2 : kv_tile_keys * 2 + Height;
  static std::size_t bytes(int chunks) {
    return header + sizeof(float) * padded * (static_cast<std::size_t>(chunks) * Height + rows);
  }
};

template <int RowsPerThread, int ValueChunks, bool Maps, bool Frugal>
class Attention {
 public:
  static constexpr int height = row_threads * RowsPerThread;
  static_assert(!Frugal || height == kv_tile_keys);  // P has the size of a tile of K

  __device__ Attention(const AttendArgs& args, const Fp32Operands& operands)
      : a_(args),
        operands_(operands),
        query_tile_(args.queries.tiles[blockIdx.x]),
        shared_(*dynamic_shared<Shared<height, Frugal>>()),
        q_(reinterpret_cast<float*>(dynamic_shared<char>() + Shared<height, Frugal>::header)),
        depth_chunks_((args.d + chunk - 1) / chunk),
        tiles_(q_ + depth_chunks_ * height * padded),
        p_(tiles_ + (Frugal ? 0 : 2 * kv_tile_keys * padded)),
        tx_(static_cast<int>(threadIdx.x) % key_threads),
        ty_(static_cast<int>(threadIdx.x) / key_threads),
        segments_(args.segments) {}

  __device__ void run() {
    begin();
    KeyIterator iterator = first_keys(query_tile_, a_.queries.lists);
    KvTile kv_tile = next_kv_tile(iterator, a_.queries.lists, false, shared_.slots[0]);
    __syncthreads();
    int parity = 0;
    load_queries();
    load(0, 0);
    while (kv_tile.keys > 0) {
      const Slots& slots = shared_.slots[parity];
      KvTile next{};
      const auto load_next = [&](int part) {
        if (part < depth_chunks_ + value_parts) {
          load(part, parity);
        } else {
          next = next_kv_tile(iterator, a_.queries.lists, false, shared_.slots[other(parity)]);
          __syncthreads();
          if (next.keys > 0) load(0, other(parity));
        }
      };
      float s[RowsPerThread][keys_per_thread] = {};
      for (int part = 0; part < depth_chunks_ + value_parts; ++part) {
        wait_copies<0>();
        __syncthreads();  // this part has been copied, and all threads have read the one before
        const float* tile = tile_of(part);
        tile_of_part_ ^= 1;
        // In a frugal block only the first part of V has a place before the last part of K is read.
        const bool ahead = !Frugal || (ValueChunks > 0 && part + 1 == depth_chunks_);
        if (ahead) load_next(part + 1);
        if (part < depth_chunks_) {
          accumulate_logits(s, q_ + part * height * padded, tile, min(chunk, a_.d - part * chunk));
          if (part + 1 == depth_chunks_) {
            weigh_and_mask(s, operands_.log2_scale, a_.queries.lists, slots, kv_tile,
                           shared_.cluster);
            if constexpr (Maps) segments_.take_logits(s, slots.cluster[0], kv_tile.keys);
            if (Frugal && ValueChunks > 0) __syncthreads();  // P overwrites K
            softmax_step(s);
            if constexpr (Maps) segments_.take_weights(s, maximum_, slots.cluster[0], kv_tile.keys);
          }
        } else {
          accumulate_values(tile, part - depth_chunks_);
        }
        if (!ahead) {
          __syncthreads();  // all threads have read this part
          load_next(part + 1);
        }
      }
      kv_tile = next;
      parity = other(parity);
    }
    wait_copies<0>();
    if constexpr (Maps) segments_.finish();
    write();
  }

 private:
  __device__ void begin() {
    find_query_rows(query_tile_, a_.queries.lists, height, shared_.cluster, shared_.query_row,
                    block_threads);
#pragma unroll
    for (int i = 0; i < RowsPerThread; ++i) {
      maximum_[i] = -INFINITY;
      sum_[i] = 0;
#pragma unroll
      for (int c = 0; c < columns; ++c) z_[i][c] = 0;
    }
  }

  __device__ void load_queries() {
    for (int part = 0; part < depth_chunks_; ++part)
      load_rows(q_ + part * height * padded, operands_.q, part * chunk, shared_.query_row, height);
  }

  __device__ static int other(int parity) {
    return Frugal ? 0 : parity ^ 1;
  }

  __device__ float* tile_of(int part) const {
    return tiles_ + (Frugal ? part >= depth_chunks_ : tile_of_part_) * kv_tile_keys * padded;
  }

  // Starts the copy of a part of a KV tile: first the columns of K, then those of V.
  __device__ void load(int part, int parity) {
    float* tile = tile_of(part);
    const std::int32_t* rows = shared_.slots[parity].key_row;
    const int value_part = part - depth_chunks_;
    if (value_part < 0)
      load_rows(tile, operands_.k, part * chunk, rows, kv_tile_keys);
    else
      load_rows(tile, operands_.v, value_part / value_pieces * chunk,
                rows + value_part % value_pieces * value_keys, value_keys);
    commit_copies();
  }

  // One step of the streaming softmax (Milakov & Gimelshein 2018): the logits s become weights in
  // P, and for maps in s itself as well.
  __device__ void softmax_step(float (&s)[RowsPerThread][keys_per_thread]) {
#pragma unroll
    for (int i = 0; i < RowsPerThread; ++i) {
      float top = maximum_[i];
#pragma unroll
      for (int j = 0; j < keys_per_thread; ++j) top = fmaxf(top, s[i][j]);
#pragma unroll
      for (int flip = 1; flip < key_threads; flip *= 2)
        top = fmaxf(top, __shfl_xor_sync(0xffffffffu, top, flip));
      const float reference = top == -INFINITY ? 0.0f : top;  // avoid (-inf) - (-inf)
      if (top != maximum_[i]) {
        const float factor = exp2_fast(maximum_[i] - reference);
        sum_[i] = __fmul_rn(sum_[i], factor);
#pragma unroll
        for (int c = 0; c < columns; ++c) z_[i][c] *= factor;
        maximum_[i] = top;
      }
      float* p = p_ + (ty_ + row_threads * i) * padded;
#pragma unroll
      for (int j = 0; j < keys_per_thread; ++j) {
        const float weight = exp2_fast(s[i][j] - reference);
        // Only this thread's keys: the threads' sums are added at the end.
        sum_[i] = __fadd_rn(sum_[i], weight);
        if constexpr (ValueChunks > 0) p[tx_ + key_threads * j] = weight;
        if constexpr (Maps) s[i][j] = weight;
      }
    }
  }

  // Registers cannot be indexed at run time: the part of z is chosen once for a part of V.
  __device__ void accumulate_values(const float* values, int part) {
#pragma unroll
    for (int at = 0; at < value_parts; ++at)
      if (at == part)
        accumulate_part(p_ + at % value_pieces * value_keys, values,
                        at / value_pieces * keys_per_thread);
  }

  // z += P V for 64 columns of V; the thread owns columns 4 tx and 4 tx + 32, four each. Chained
  // fmaf: left to the compiler, the instances of the kernel would round differently.
  __device__ __forceinline__ void accumulate_part(const float* weights, const float* values,
                                                  int first) {
#pragma unroll(RowsPerThread == 1 ? 2 : 1)
    for (int key = 0; key < value_keys; key += 4) {
      float4 p[RowsPerThread];
#pragma unroll
      for (int i = 0; i < RowsPerThread; ++i)
        p[i] = *reinterpret_cast<const float4*>(weights + (ty_ + row_threads * i) * padded + key);
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const float* row = values + (key + k) * padded + 4 * tx_;
        const float4 low = *reinterpret_cast<const float4*>(row),
                     high = *reinterpret_cast<const float4*>(row + 32);
#pragma unroll
        for (int i = 0; i < RowsPerThread; ++i) {
          const float weight = k == 0 ? p[i].x : k == 1 ? p[i].y : k == 2 ? p[i].z : p[i].w;
          float* z = z_[i] + first;
          z[0] = fmaf(weight, low.x, z[0]);
          z[1] = fmaf(weight, low.y, z[1]);
          z[2] = fmaf(weight, low.z, z[2]);
          z[3] = fmaf(weight, low.w, z[3]);
          z[4] = fmaf(weight, high.x, z[4]);
          z[5] = fmaf(weight, high.y, z[5]);
          z[6] = fmaf(weight, high.z, z[6]);
          z[7] = fmaf(weight, high.w, z[7]);
        }
      }
    }
  }

  // Merges the result into the state of each query.
  __device__ void write() {
#pragma unroll
    for (int i = 0; i < RowsPerThread; ++i) {
#pragma unroll
      for (int flip = 1; flip < key_threads; flip *= 2)
        sum_[i] += __shfl_xor_sync(0xffffffffu, sum_[i], flip);
      const int r = ty_ + row_threads * i;
      const bool present = r < query_tile_.row_count;
      const std::int32_t row = query_tile_.state_base + (query_tile_.part ? r : shared_.cluster[r]);
      const bool last = a_.states.last && !query_tile_.part;
      const MergedState state(maximum_[i], sum_[i], present && !a_.states.last && !query_tile_.part,
                              a_.states.sum + row, a_.states.maximum + row, last);
      __syncwarp();  // all eight threads of the row have read the state
      if (!present) continue;
      if (tx_ == 0) {
        a_.states.sum[row] = state.sum;
        a_.states.maximum[row] = state.maximum;
      }
      float* out = a_.states.z + static_cast<std::size_t>(row) * a_.states.z_stride;
#pragma unroll
      for (int part = 0; part < ValueChunks; ++part)
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int column = part * chunk + half * 32 + 4 * tx_;
          if (column >= a_.states.dv) continue;
          const float* z = z_[i] + part * keys_per_thread + half * 4;
          float4 value = make_float4(__fmul_rn(z[0], state.ours), __fmul_rn(z[1], state.ours),
                                     __fmul_rn(z[2], state.ours), __fmul_rn(z[3], state.ours));
          float4* at = reinterpret_cast<float4*>(out + column);
          if (state.joined) {
            const float4 old = *at;
            value =
                make_float4(fmaf(old.x, state.theirs, value.x), fmaf(old.y, state.theirs, value.y),
                            fmaf(old.z, state.theirs, value.z), fmaf(old.w, state.theirs, value.w));
          }
          *at = value;
        }
    }
  }

  static constexpr int columns = ValueChunks > 0 ? ValueChunks* keys_per_thread : 1;
  // The number of pieces in which a tile of V is copied.
  static constexpr int value_pieces = Frugal ? 2 : 1, value_keys = kv_tile_keys / value_pieces,
                       value_parts = ValueChunks * value_pieces;

  const AttendArgs& a_;
  const Fp32Operands& operands_;
  const QueryTile& query_tile_;  // read again where needed, to save registers
  Shared<height, Frugal>& shared_;
  float* const q_;  // [depth chunks][height][padded]
  const int depth_chunks_;
  float *const tiles_, *const p_;
  const int tx_, ty_;
  int tile_of_part_ = 0;
  float maximum_[RowsPerThread], sum_[RowsPerThread];
  float z_[RowsPerThread][columns];
  std::conditional_t<Maps, SegmentTracker<LaneLayout<RowsPerThread>>, NoSegments> segments_;
};

// Blocks on a multiprocessor that there are registers for: as many as shared memory holds with
// heads of up to 64 columns, or more, unless registers would spill.
template <int RowsPerThread, int ValueChunks>
constexpr int blocks_at_once = RowsPerThread > 1 ? 2
                               : ValueChunks > 1 ? 4
                                                 : 5;

template <int RowsPerThread, int ValueChunks, bool Maps, bool Frugal>
__global__ void __launch_bounds__(block_threads,
                                  Maps ? 2 : blocks_at_once<RowsPerThread, ValueChunks>)
    attend_kernel(const AttendArgs args, const Fp32Operands operands) {
  Attention<RowsPerThread, ValueChunks, Maps, Frugal>(args, operands).run();
}

struct Fp32Kernel {
  int height, value_columns;  // upper bounds
  bool maps, frugal;
  void (*kernel)(AttendArgs, Fp32Operands);
};

template <int RowsPerThread, int ValueChunks, bool Maps = false, bool Frugal = false>
Fp32Kernel fp32_kernel() {
  return {row_threads * RowsPerThread, ValueChunks * chunk, Maps, Frugal,
          attend_kernel<RowsPerThread, ValueChunks, Maps, Frugal>};
}

// For each height, those for fewer columns first. Registers cannot hold more columns of more rows.
auto choose_kernel(int height, int dv, bool maps, bool frugal) {
  static const Fp32Kernel kernels[] = {fp32_kernel<1, 0>(),
                                       fp32_kernel<1, 1>(),
                                       fp32_kernel<1, 2>(),
                                       fp32_kernel<1, 4>(),
                                       fp32_kernel<4, 0>(),
                                       fp32_kernel<4, 1>(),
                                       fp32_kernel<4, 2>(),
                                       fp32_kernel<4, 4>(),
                                       fp32_kernel<8, 0>(),
                                       fp32_kernel<8, 1>(),
                                       fp32_kernel<1, 0, true>(),
                                       fp32_kernel<1, 1, true>(),
                                       fp32_kernel<1, 2, true>(),
                                       fp32_kernel<4, 0, true>(),
                                       fp32_kernel<4, 1, true>(),
                                       fp32_kernel<4, 2, true>(),
                                       fp32_kernel<8, 0, true>(),
                                       fp32_kernel<8, 1, true>(),
                                       fp32_kernel<4, 0, false, true>(),
                                       fp32_kernel<4, 1, false, true>(),
                                       fp32_kernel<4, 2, false, true>(),
                                       fp32_kernel<4, 4, false, true>(),
                                       fp32_kernel<4, 0, true, true>(),
                                       fp32_kernel<4, 1, true, true>(),
                                       fp32_kernel<4, 2, true, true>()};
  for (const Fp32Kernel& each : kernels)
    if (each.height == height && each.maps == maps && each.frugal == frugal &&
        dv <= each.value_columns)
      return each.kernel;
  refuse("attention with " + std::to_string(dv) + " columns of values at once, query tiles of " +
         std::to_string(height) + " queries" + (maps ? " and maps" : ""));
}

std::size_t shared_bytes(int height, int chunks, bool frugal) {
  if (frugal) return Shared<64, true>::bytes(chunks);
  return height == 16   ? Shared<16, false>::bytes(chunks)
         : height == 64 ? Shared<64, false>::bytes(chunks)
                        : Shared<128, false>::bytes(chunks);
}

// Whether more blocks fit, of the two that keep a multiprocessor busy.
bool is_frugal(int height, int chunks, std::size_t shared_per_block) {
  const auto fit = [&](bool frugal) {
    return std::min<std::size_t>(2, shared_per_block / shared_bytes(height, chunks, frugal));
  };
  return height == 64 && fit(true) > fit(false);
}

int chunks_of(int d) {
  return (d + chunk - 1) / chunk;
}

}  // namespace

std::size_t attend_shared_bytes(int height, int d, std::size_t shared_per_block) {
  return shared_bytes(height, chunks_of(d), is_frugal(height, chunks_of(d), shared_per_block));
}

void attend(const AttendArgs& args, const Fp32Operands& operands, int height,
            std::size_t shared_per_block, cudaStream_t stream) {
  const bool maps = args.segments.pixel > 0,
             frugal = is_frugal(height, chunks_of(args.d), shared_per_block);
  launch(choose_kernel(height, args.states.dv, maps, frugal),
         {.grid = dim3(static_cast<unsigned>(args.queries.count)),
          .block = dim3(block_threads),
          .shared_bytes = shared_bytes(height, chunks_of(args.d), frugal),
          .stream = stream},
         args, operands);
}

}  // namespace fovea::cuda
