// One block makes all features of 32 tokens: bound by multiplications in fp32, 2 d for each feature
// that is stored (elu: by memory).
#include "device/launch.h"
#include "device/load_columns.cuh"
#include "features/feature_logs.h"

namespace fovea::cuda {
namespace {

constexpr int feature_log_tokens = 32;                        // of a block
constexpr int feature_log_tile = 64, feature_log_width = 32;  // features and columns of x at a time
constexpr int feature_log_lanes = 16, feature_log_threads = 128,
              feature_log_bands = feature_log_threads / feature_log_lanes;
constexpr int feature_log_tokens_each = feature_log_tokens / feature_log_bands,
              feature_log_features_each = feature_log_tile / feature_log_lanes;
constexpr int threads_per_token = feature_log_threads / feature_log_tokens;

__device__ Index token_of(const FeatureLogArgs& a, Index row) {
  return a.drawn ? a.drawn[row] : a.first + row;
}

// Half the square of each row, by four threads each.
__device__ void find_halves(const FeatureLogArgs& a, Index first, double* half) {
  const int row = static_cast<int>(threadIdx.x) / threads_per_token,
            part = static_cast<int>(threadIdx.x) % threads_per_token;
  double squares = 0;
  if (a.directions && first + row < a.count) {
    const float* x = a.x + token_of(a, first + row) * a.x_stride;
    for (int c = part; c < a.d; c += threads_per_token)
      squares += static_cast<double>(x[c]) * static_cast<double>(x[c]);
  }
  for (int flip = 1; flip < threads_per_token; flip *= 2)
    squares += __shfl_xor_sync(0xffffffffu, squares, flip);
  if (part == 0) half[row] = a.half * squares;
}

// log2 (elu(x) + 1); NaN stays NaN.
__device__ float log2_elu(float x) {
  constexpr float log2_e = 1.44269504f;
  return x > 0 ? log2f(1.0f + x) : x * log2_e;
}

// 75 registers, 13 KiB of shared memory: six blocks on a multiprocessor. Bound by multiply-adds.
__global__ void __launch_bounds__(feature_log_threads, 6)
    feature_logs_kernel(const FeatureLogArgs a) {
  __shared__ float x[feature_log_tokens][feature_log_width + 1],
      g[feature_log_tile][feature_log_width + 1];
  __shared__ double half[feature_log_tokens];
  const Index first = static_cast<Index>(blockIdx.x) * feature_log_tokens;
  const int tx = static_cast<int>(threadIdx.x) % feature_log_lanes,
            ty = static_cast<int>(threadIdx.x) / feature_log_lanes;
  find_halves(a, first, half);
  __syncthreads();
  float largest[feature_log_tokens_each];
  for (int i = 0; i < feature_log_tokens_each; ++i) largest[i] = -INFINITY;
  for (int begin = 0; begin < a.features; begin += feature_log_tile) {
    float s[feature_log_tokens_each][feature_log_features_each] = {};
    for (int column = 0; a.directions && column < a.d; column += feature_log_width) {
      __syncthreads();
      load_columns<feature_log_threads>(x, column, a.d, [&](int row) {
        return first + row < a.count ? a.x + token_of(a, first + row) * a.x_stride : nullptr;
      });
      load_columns<feature_log_threads>(g, column, a.d, [&](int r) {
        return begin + r < a.features
                   ? a.directions + static_cast<Index>(begin + r) * a.direction_stride
                   : nullptr;
      });
      __syncthreads();
#pragma unroll 8
      for (int c = 0; c < feature_log_width; ++c)
#pragma unroll
        for (int i = 0; i < feature_log_tokens_each; ++i)
#pragma unroll
          for (int j = 0; j < feature_log_features_each; ++j)
            s[i][j] =
                fmaf(g[tx + feature_log_lanes * j][c], x[ty + feature_log_bands * i][c], s[i][j]);
    }
#pragma unroll
    for (int i = 0; i < feature_log_tokens_each; ++i)
#pragma unroll
      for (int j = 0; j < feature_log_features_each; ++j) {
        const int row = ty + feature_log_bands * i, r = begin + tx + feature_log_lanes * j;
        if (first + row >= a.count || r >= a.features) continue;
        float value = s[i][j];
        if (!a.directions)
          value = log2_elu(a.x[token_of(a, first + row) * a.x_stride + r]);
        else if (!a.of_queries)
          value -= static_cast<float>(half[row]);
        a.logs[(first + row) * a.log_stride + r] = value;
        largest[i] = fmaxf(largest[i], value);
      }
  }
  if (!a.of_queries) return;
#pragma unroll
  for (int i = 0; i < feature_log_tokens_each; ++i) {
    for (int flip = feature_log_lanes / 2; flip > 0; flip /= 2)
      largest[i] = fmaxf(largest[i], __shfl_xor_sync(0xffffffffu, largest[i], flip));
    const int row = ty + feature_log_bands * i;
    if (first + row >= a.count) continue;
    // Each thread takes it from the numbers that it wrote itself.
    for (int r = tx; r < a.features; r += feature_log_lanes)
      a.logs[(first + row) * a.log_stride + r] -= largest[i];
    if (tx == 0 && a.factor) a.factor[first + row] = static_cast<double>(largest[i]) - half[row];
  }
}

}  // namespace

void feature_logs(const FeatureLogArgs& args, cudaStream_t stream) {
  launch(feature_logs_kernel,
         {.grid = dim3(
              static_cast<unsigned>((args.count + feature_log_tokens - 1) / feature_log_tokens)),
          .block = dim3(feature_log_threads),
          .stream = stream},
         args);
}

}  // namespace fovea::cuda
