// One block makes the entries of 64 queries and the 32 keys of a chunk: bound by multiplications in
// fp32, one for each feature of an entry (and 3 exp2 for 64 of them).
#include "device/launch.h"
#include "features/feature_entries.h"
#include "features/running_sum.cuh"

namespace fovea::cuda {
namespace {

constexpr int entry_queries = 64;  // of a block
constexpr int entry_tile = 32;     // features at a time
constexpr int entry_threads = 128, entry_lanes = 16, entry_bands = entry_threads / entry_lanes;
constexpr int entry_queries_each = entry_queries / entry_bands,
              entry_keys_each = feature_chunk / entry_lanes;

// 2^x, at most 1 but for NaN: sums are rounded, so that x may exceed 0.
__device__ float exp2_at_most_1(float x) {
  return exp2_fast(x > 0 ? 0.0f : x);
}

class FeatureEntries {
 public:
  __device__ explicit FeatureEntries(const FeatureEntryArgs& args)
      : a_(args),
        first_(static_cast<Index>(blockIdx.y) * entry_queries),
        count_(static_cast<int>(min(Index{entry_queries}, args.row_count - first_))),
        chunk_(args.first_chunk + blockIdx.x) {}

  __device__ void run() {
    __shared__ float query[entry_queries][entry_tile + 1], key[feature_chunk][entry_tile + 1];
    float p[entry_queries_each][entry_keys_each] = {};
    const bool any_later = token(count_ - 1) >= (chunk_ + 1) * feature_chunk;
    for (int begin = 0; any_later && begin < a_.features; begin += entry_tile) {
      __syncthreads();
      load(query, key, begin);
      __syncthreads();
#pragma unroll 4
      for (int r = 0; r < entry_tile; ++r)
#pragma unroll
        for (int i = 0; i < entry_queries_each; ++i)
#pragma unroll
          for (int j = 0; j < entry_keys_each; ++j)
            p[i][j] = fmaf(query[row_of(i)][r], key[key_of(j)][r], p[i][j]);
    }
    write(p);
  }

 private:
  __device__ Index token(int row) const {
    return a_.drawn ? a_.drawn[first_ + row] : a_.first_row + first_ + row;
  }
  __device__ int row_of(int i) const {
    return static_cast<int>(threadIdx.x) / entry_lanes + entry_bands * i;
  }
  __device__ int key_of(int j) const {
    return static_cast<int>(threadIdx.x) % entry_lanes + entry_lanes * j;
  }

  // phi(q_i) . phi(k_j) / D_i = sum over r of 2^(a_ir + top_r - D_i) 2^(b_jr - top_r), top_r being
  // the largest b_jr of the chunk: neither factor exceeds 1, as D_i is a sum over all its keys too.
  __device__ void load(float (&query)[entry_queries][entry_tile + 1],
                       float (&key)[feature_chunk][entry_tile + 1], int begin) const {
    const float* top = a_.own_maximum + chunk_ * a_.stride + begin;
    for (int at = static_cast<int>(threadIdx.x); at < entry_queries * entry_tile;
         at += entry_threads) {
      const int row = at / entry_tile, r = at % entry_tile;
      const bool exists =
          row < count_ && begin + r < a_.features && token(row) >= (chunk_ + 1) * feature_chunk;
      query[row][r] = exists ? exp2_at_most_1(a_.query[(first_ + row) * a_.stride + begin + r] +
                                              top[r] - a_.rows.log2_sum[token(row)])
                             : 0.0f;
    }
    for (int at = static_cast<int>(threadIdx.x); at < feature_chunk * entry_tile;
         at += entry_threads) {
      const int j = at / entry_tile, r = at % entry_tile;
      const Index place =
          (static_cast<Index>(blockIdx.x) * feature_chunk + j) * a_.stride + begin + r;
      key[j][r] = begin + r < a_.features ? exp2_fast(a_.key[place] - finite_reference(top[r])) : 0;
    }
  }

  // With features of later keys the factors could be too large: queries of the chunk itself meet
  // its keys in pairs.
  __device__ void write(const float (&p)[entry_queries_each][entry_keys_each]) const {
#pragma unroll
    for (int i = 0; i < entry_queries_each; ++i) {
      if (row_of(i) >= count_) continue;
      const Index query = token(row_of(i));
#pragma unroll
      for (int j = 0; j < entry_keys_each; ++j) {
        const Index key = chunk_ * feature_chunk + key_of(j);
        if (key < a_.first_col || key >= a_.end_col) continue;
        float value = p[i][j];
        if (key > query)
          value = a_.elsewhere;
        else if (query < (chunk_ + 1) * feature_chunk)
          value = exp2_at_most_1(a_.rows.pairs[query * feature_chunk + key_of(j)] -
                                 a_.rows.log2_sum[query]);
        a_.out[(first_ + row_of(i)) * a_.out_stride + key - a_.first_col] = value;
      }
    }
  }

  const FeatureEntryArgs& a_;
  const Index first_;
  const int count_;
  const Index chunk_;
};

// 55 registers, 12 KiB of shared memory: nine blocks on a multiprocessor. Bound by multiply-adds.
__global__ void __launch_bounds__(entry_threads)
    feature_entries_kernel(const FeatureEntryArgs args) {
  FeatureEntries(args).run();
}

}  // namespace

void feature_entries(const FeatureEntryArgs& args, cudaStream_t stream) {
  launch(feature_entries_kernel,
         {.grid = dim3(static_cast<unsigned>(args.chunks),
                       static_cast<unsigned>((args.row_count + entry_queries - 1) / entry_queries)),
          .block = dim3(entry_threads),
          .stream = stream},
         args);
}

}  // namespace fovea::cuda
