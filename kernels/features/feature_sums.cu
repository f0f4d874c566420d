// sum_chunks and scan_sums are bound by memory, sum_rows by exp2: one for each feature of a pair of
// tokens of one chunk, 16 and a half for each feature of a query.
#include "device/cells.cuh"
#include "device/launch.h"
#include "features/feature_sums.h"
#include "features/running_sum.cuh"
#include "ptx.h"

namespace fovea::cuda {
namespace {

constexpr int feature_sum_threads = 128;

// One thread for each chunk and feature.
// 32 registers, 16 blocks on a multiprocessor. Bound by memory: every log is read once.
__global__ void __launch_bounds__(feature_sum_threads)
    sum_chunks_kernel(const FeatureChunks a, const KeySums sums) {
  const Index at = own_cell<feature_sum_threads>() / a.features,
              r = own_cell<feature_sum_threads>() % a.features;
  if (at >= a.count) return;
  const int keys =
      static_cast<int>(min(Index{feature_chunk}, a.n - (a.first + at) * feature_chunk));
  const float* key = a.key + at * feature_chunk * a.stride + r;
  float top = -INFINITY, sum = 0;
#pragma unroll 8
  for (int j = 0; j < keys; ++j) top = fmaxf(top, key[static_cast<Index>(j) * a.stride]);
  const float reference = finite_reference(top);
#pragma unroll 8
  for (int j = 0; j < keys; ++j)
    sum += exp2_fast(key[static_cast<Index>(j) * a.stride] - reference);
  sums.own_maximum[(a.first + at) * a.stride + r] = top;
  sums.own_sum[(a.first + at) * a.stride + r] = sum;
}

// One thread for each feature: chunk after chunk, in double.
// 72 registers, seven blocks on a multiprocessor. Bound by latency: a step waits for the one
// before.
__global__ void __launch_bounds__(feature_sum_threads)
    scan_sums_kernel(const FeatureChunks a, const KeySums sums) {
  const Index r = own_cell<feature_sum_threads>();
  if (r >= a.features) return;
  double total = sums.carry[r];
  float top = a.first == 0 ? -INFINITY : sums.maximum[a.first * a.stride + r];
  constexpr int batch = 8;  // read together, so that there is one wait for all
  for (Index begin = a.first; begin < a.first + a.count; begin += batch) {
    float maximum[batch], sum[batch];
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      const bool exists = begin + b < a.first + a.count;
      maximum[b] = exists ? sums.own_maximum[(begin + b) * a.stride + r] : -INFINITY;
      sum[b] = exists ? sums.own_sum[(begin + b) * a.stride + r] : 0.0f;
    }
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      if (begin + b >= a.first + a.count) break;
      sums.maximum[(begin + b) * a.stride + r] = top;
      sums.sum[(begin + b) * a.stride + r] = static_cast<float>(total);
      const float next = fmaxf(top, maximum[b]), reference = finite_reference(next);
      total = total * static_cast<double>(exp2_fast(top - reference)) +
              static_cast<double>(sum[b]) * static_cast<double>(exp2_fast(maximum[b] - reference));
      top = next;
    }
  }
  sums.maximum[(a.first + a.count) * a.stride + r] = top;
  sums.carry[r] = total;
}

constexpr int pair_tile = 32;  // features at a time
constexpr int pair_lanes = 16, pair_bands = feature_sum_threads / pair_lanes;
constexpr int pair_rows_each = feature_chunk / pair_bands,
              pair_keys_each = feature_chunk / pair_lanes;
constexpr int threads_per_query = feature_sum_threads / feature_chunk;

// Not an array of arrays of sums: of a local one nvcc 13.0 initialises only the first row.
struct PairSums {
  RunningSum of_key[pair_keys_each];
};

// One block for each chunk.
class ChunkRowSums {
 public:
  __device__ ChunkRowSums(const FeatureChunks& chunks, const KeySums& sums,
                          const FeatureRowSums& rows)
      : a_(chunks),
        sums_(sums),
        rows_(rows),
        chunk_(chunks.first + blockIdx.x),
        tokens_(static_cast<int>(min(Index{feature_chunk}, chunks.n - chunk_ * feature_chunk))) {}

  __device__ void run() {
    __shared__ float query[feature_chunk][pair_tile + 1], key[feature_chunk][pair_tile + 1],
        pair[feature_chunk][feature_chunk + 1];
    PairSums pairs[pair_rows_each];
    RunningSum before;
    for (int begin = 0; begin < a_.features; begin += pair_tile) {
      __syncthreads();
      load(query, a_.query, begin);
      load(key, a_.key, begin);
      __syncthreads();
      add_pairs(query, key, pairs);
      add_before(query, begin, before);
    }
#pragma unroll
    for (int i = 0; i < pair_rows_each; ++i)
#pragma unroll
      for (int j = 0; j < pair_keys_each; ++j)
        pair[row_of(i)][key_of(j)] = is_past(i, j) ? pairs[i].of_key[j].log2() : -INFINITY;
    __syncthreads();
    finish(pair, before);
  }

 private:
  __device__ int row_of(int i) const {
    return static_cast<int>(threadIdx.x) / pair_lanes + pair_bands * i;
  }
  __device__ int key_of(int j) const {
    return static_cast<int>(threadIdx.x) % pair_lanes + pair_lanes * j;
  }
  __device__ bool is_past(int i, int j) const {
    return key_of(j) <= row_of(i);
  }

  // -inf beyond the last token and the last feature.
  __device__ void load(float (&to)[feature_chunk][pair_tile + 1], const float* from,
                       int begin) const {
    for (int at = static_cast<int>(threadIdx.x); at < feature_chunk * pair_tile;
         at += feature_sum_threads) {
      const int row = at / pair_tile, r = begin + at % pair_tile;
      const Index place = (static_cast<Index>(blockIdx.x) * feature_chunk + row) * a_.stride + r;
      to[row][at % pair_tile] = row < tokens_ && r < a_.features ? from[place] : -INFINITY;
    }
  }

  __device__ void add_pairs(const float (&query)[feature_chunk][pair_tile + 1],
                            const float (&key)[feature_chunk][pair_tile + 1],
                            PairSums (&pairs)[pair_rows_each]) const {
#pragma unroll
    for (int i = 0; i < pair_rows_each; ++i)
#pragma unroll
      for (int j = 0; j < pair_keys_each; ++j) {
        if (!is_past(i, j)) continue;
        constexpr int batch = 8;
        for (int r = 0; r < pair_tile; r += batch) {
          float x[batch];
#pragma unroll
          for (int b = 0; b < batch; ++b) x[b] = query[row_of(i)][r + b] + key[key_of(j)][r + b];
          pairs[i].of_key[j].add(x);
        }
      }
  }

  // Four threads share the features of a query.
  __device__ void add_before(const float (&query)[feature_chunk][pair_tile + 1], int begin,
                             RunningSum& before) const {
    const int row = static_cast<int>(threadIdx.x) / threads_per_query;
    for (int r = static_cast<int>(threadIdx.x) % threads_per_query;
         r < min(pair_tile, a_.features - begin); r += threads_per_query) {
      const Index place = chunk_ * a_.stride + begin + r;
      before.add(query[row][r] + sums_.maximum[place], sums_.sum[place]);
    }
  }

  __device__ void finish(const float (&pair)[feature_chunk][feature_chunk + 1],
                         RunningSum sum) const {
    const int row = static_cast<int>(threadIdx.x) / threads_per_query,
              part = static_cast<int>(threadIdx.x) % threads_per_query;
    const Index token = chunk_ * feature_chunk + row;
    for (int j = part; j < feature_chunk; j += threads_per_query) {
      sum.add(pair[row][j], 1.0f);
      if (row < tokens_) rows_.pairs[token * feature_chunk + j] = pair[row][j];
    }
    for (int flip = 1; flip < threads_per_query; flip *= 2) {
      const float top = __shfl_xor_sync(0xffffffffu, sum.top, flip),
                  of_top = __shfl_xor_sync(0xffffffffu, sum.sum, flip);
      sum.add(top, of_top);
    }
    if (part > 0 || row >= tokens_) return;
    rows_.maximum[token] = sum.top;
    rows_.sum[token] = sum.sum;
    rows_.log2_sum[token] = sum.log2();
  }

  const FeatureChunks& a_;
  const KeySums& sums_;
  const FeatureRowSums& rows_;
  const Index chunk_;
  const int tokens_;
};

// 56 registers, 12 KiB of shared memory: nine blocks on a multiprocessor. Bound by multiply-adds.
__global__ void __launch_bounds__(feature_sum_threads)
    sum_rows_kernel(const FeatureChunks chunks, const KeySums sums, const FeatureRowSums rows) {
  ChunkRowSums(chunks, sums, rows).run();
}

}  // namespace

void sum_chunks(const FeatureChunks& chunks, const KeySums& sums, cudaStream_t stream) {
  launch(sum_chunks_kernel, cells<feature_sum_threads>(chunks.count, chunks.features, stream),
         chunks, sums);
}

void scan_sums(const FeatureChunks& chunks, const KeySums& sums, cudaStream_t stream) {
  launch(scan_sums_kernel, cells<feature_sum_threads>(1, chunks.features, stream), chunks, sums);
}

void sum_rows(const FeatureChunks& chunks, const KeySums& sums, const FeatureRowSums& rows,
              cudaStream_t stream) {
  launch(sum_rows_kernel,
         {.grid = dim3(static_cast<unsigned>(chunks.count)),
          .block = dim3(feature_sum_threads),
          .stream = stream},
         chunks, sums, rows);
}

}  // namespace fovea::cuda
