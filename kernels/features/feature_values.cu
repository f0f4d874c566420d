// All three kernels are bound by the states: [features, dv] numbers for each chunk of 32 tokens,
// written twice and read twice, of which a query needs 64 operations for each four bytes.
#include "device/launch.h"
#include "features/feature_values.h"
#include "features/running_sum.cuh"

namespace fovea::cuda {
namespace {

constexpr int value_threads = 128, value_columns = 64;  // of V, of one block
constexpr int value_lanes = value_columns / 4, value_bands = value_threads / value_lanes;

__device__ void add_product(float (&sum)[4], float weight, const float4& v) {
  sum[0] = fmaf(weight, v.x, sum[0]);
  sum[1] = fmaf(weight, v.y, sum[1]);
  sum[2] = fmaf(weight, v.z, sum[2]);
  sum[3] = fmaf(weight, v.w, sum[3]);
}

// to[row] = columns of row `row` of `from`, zeros beyond the last row and column.
template <int Rows>
__device__ void load_values(float4 (&to)[Rows][value_lanes], const float* from, int count,
                            int column, int stride) {
  for (int at = static_cast<int>(threadIdx.x); at < Rows * value_lanes; at += value_threads) {
    const int row = at / value_lanes, c = column + at % value_lanes * 4;
    to[row][at % value_lanes] =
        row < count && c < stride
            ? *reinterpret_cast<const float4*>(from + static_cast<Index>(row) * stride + c)
            : make_float4(0, 0, 0, 0);
  }
}

constexpr int value_tile = 64;  // features of one block of sum_values
constexpr int value_features_each = value_tile / value_bands;

// One block for 64 features of a chunk and 64 columns.
// 65 registers, 16 KiB of shared memory: seven blocks on a multiprocessor. Bound by multiply-adds.
__global__ void __launch_bounds__(value_threads)
    sum_values_kernel(const FeatureValueArgs a, int tiles) {
  __shared__ float weight[feature_chunk][value_tile];
  __shared__ float4 value[feature_chunk][value_lanes];
  const FeatureChunks& f = a.chunks;
  const Index at = blockIdx.x / tiles, token = (f.first + at) * feature_chunk;
  const int begin = static_cast<int>(blockIdx.x % tiles) * value_tile,
            column = static_cast<int>(blockIdx.y) * value_columns,
            keys = static_cast<int>(min(Index{feature_chunk}, f.n - token));
  for (int place = static_cast<int>(threadIdx.x); place < feature_chunk * value_tile;
       place += value_threads) {
    const int j = place / value_tile, r = begin + place % value_tile;
    weight[j][place % value_tile] =
        j < keys && r < f.features
            ? exp2_fast(f.key[(at * feature_chunk + j) * f.stride + r] -
                        finite_reference(a.sums.own_maximum[(f.first + at) * f.stride + r]))
            : 0.0f;
  }
  load_values(value, a.v + token * a.stride, keys, column, a.stride);
  __syncthreads();
  const int tx = static_cast<int>(threadIdx.x) % value_lanes,
            ty = static_cast<int>(threadIdx.x) / value_lanes * value_features_each;
  float sum[value_features_each][4] = {};
#pragma unroll 4
  for (int j = 0; j < feature_chunk; ++j) {
    const float4 v = value[j][tx];
#pragma unroll
    for (int i = 0; i < value_features_each; ++i) add_product(sum[i], weight[j][ty + i], v);
  }
  const int c = column + 4 * tx;
#pragma unroll
  for (int i = 0; i < value_features_each; ++i)
    if (begin + ty + i < f.features && c < a.stride)
      *reinterpret_cast<float4*>(a.states + (at * f.features + begin + ty + i) * a.stride + c) =
          make_float4(sum[i][0], sum[i][1], sum[i][2], sum[i][3]);
}

// One thread for each feature and column: chunk after chunk, in double.
// 48 registers, ten blocks on a multiprocessor. Bound by memory: sums are read and written once.
__global__ void __launch_bounds__(value_threads) scan_values_kernel(const FeatureValueArgs a) {
  const FeatureChunks& f = a.chunks;
  const Index cell = static_cast<Index>(blockIdx.x) * value_threads + threadIdx.x,
              r = cell / a.stride, states = static_cast<Index>(f.features) * a.stride;
  if (r >= f.features) return;
  double total = a.carry[cell];
  constexpr int batch = 8;  // read together, so that there is one wait for all
  for (Index begin = 0; begin < f.count; begin += batch) {
    float own[batch], kept[batch], share[batch];
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      if (begin + b >= f.count) break;
      const Index place = (f.first + begin + b) * f.stride + r;
      const float reference = finite_reference(a.sums.maximum[place + f.stride]);
      own[b] = a.states[(begin + b) * states + cell];
      kept[b] = exp2_fast(a.sums.maximum[place] - reference);
      share[b] = exp2_fast(a.sums.own_maximum[place] - reference);
    }
#pragma unroll
    for (int b = 0; b < batch; ++b) {
      if (begin + b >= f.count) break;
      a.states[(begin + b) * states + cell] = static_cast<float>(total);
      total = total * static_cast<double>(kept[b]) +
              static_cast<double>(own[b]) * static_cast<double>(share[b]);
    }
  }
  a.carry[cell] = total;
}

constexpr int value_queries_each = feature_chunk / value_bands;

// One block for a chunk and 64 columns.
// 46 registers, 12 KiB of shared memory: ten blocks on a multiprocessor. Bound by multiply-adds.
__global__ void __launch_bounds__(value_threads) attend_features_kernel(const FeatureValueArgs a) {
  // The weight of a feature, or of a key, for a query.
  __shared__ float weight[feature_chunk][feature_chunk + 1];
  __shared__ float4 value[feature_chunk][value_lanes];
  const FeatureChunks& f = a.chunks;
  const Index at = blockIdx.x, token = (f.first + at) * feature_chunk;
  const int column = static_cast<int>(blockIdx.y) * value_columns,
            tokens = static_cast<int>(min(Index{feature_chunk}, f.n - token));
  const int tx = static_cast<int>(threadIdx.x) % value_lanes,
            ty = static_cast<int>(threadIdx.x) / value_lanes * value_queries_each;
  float z[value_queries_each][4] = {};
  const auto add = [&](auto log2_weight, const float* values, int count) {
    __syncthreads();
    for (int place = static_cast<int>(threadIdx.x); place < feature_chunk * feature_chunk;
         place += value_threads) {
      const int row = place / feature_chunk, r = place % feature_chunk;
      weight[r][row] = row < tokens && r < count
                           ? exp2_fast(log2_weight(row, r) - a.rows.maximum[token + row])
                           : 0.0f;
    }
    load_values(value, values, count, column, a.stride);
    __syncthreads();
#pragma unroll 4
    for (int r = 0; r < feature_chunk; ++r) {
      const float4 v = value[r][tx];
#pragma unroll
      for (int i = 0; i < value_queries_each; ++i) add_product(z[i], weight[r][ty + i], v);
    }
  };
  for (int begin = 0; f.first + at > 0 && begin < f.features; begin += feature_chunk)
    add(
        [&](int row, int r) {
          return f.query[(at * feature_chunk + row) * f.stride + begin + r] +
                 a.sums.maximum[(f.first + at) * f.stride + begin + r];
        },
        a.states + (at * f.features + begin) * a.stride, min(feature_chunk, f.features - begin));
  add([&](int row, int j) { return a.rows.pairs[(token + row) * feature_chunk + j]; },
      a.v + token * a.stride, tokens);
  const int c = column + 4 * tx;
#pragma unroll
  for (int i = 0; i < value_queries_each; ++i) {
    if (ty + i >= tokens || c >= a.stride) continue;
    const float share = 1.0f / a.rows.sum[token + ty + i];
    *reinterpret_cast<float4*>(a.z + (token + ty + i) * a.stride + c) =
        make_float4(z[i][0] * share, z[i][1] * share, z[i][2] * share, z[i][3] * share);
  }
}

LaunchShape value_blocks(Index count, int stride, cudaStream_t stream) {
  return {.grid = dim3(static_cast<unsigned>(count),
                       static_cast<unsigned>((stride + value_columns - 1) / value_columns)),
          .block = dim3(value_threads),
          .stream = stream};
}

}  // namespace

void sum_values(const FeatureValueArgs& args, cudaStream_t stream) {
  const int tiles = (args.chunks.features + value_tile - 1) / value_tile;
  launch(sum_values_kernel, value_blocks(args.chunks.count * tiles, args.stride, stream), args,
         tiles);
}

void scan_values(const FeatureValueArgs& args, cudaStream_t stream) {
  const Index cells = static_cast<Index>(args.chunks.features) * args.stride;
  launch(scan_values_kernel,
         {.grid = dim3(static_cast<unsigned>((cells + value_threads - 1) / value_threads)),
          .block = dim3(value_threads),
          .stream = stream},
         args);
}

void attend_features(const FeatureValueArgs& args, cudaStream_t stream) {
  launch(attend_features_kernel, value_blocks(args.chunks.count, args.stride, stream), args);
}

}  // namespace fovea::cuda
