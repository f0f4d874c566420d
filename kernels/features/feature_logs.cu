// One block makes all features of 32 tokens: bound by multiplications in fp32, 2 d for each feature
// that is stored (elu: by memory).
#include "device/launch.h"
#include "features/feature_logs.h"

namespace fovea::cuda {
namespace {

constexpr int rows = 32, tile = 64, width = 32;  // tokens; features and columns of x at a time
constexpr int lanes = 16, threads = 128, bands = threads / lanes;
constexpr int rows_each = rows / bands, features_each = tile / lanes;
constexpr int threads_per_row = threads / rows;

__device__ Index token_of(const FeatureLogArgs& a, Index row) {
  return a.drawn ? a.drawn[row] : a.first + row;
}

// Half the square of each row, by four threads each.
__device__ void find_halves(const FeatureLogArgs& a, Index first, double* half) {
  const int row = static_cast<int>(threadIdx.x) / threads_per_row,
            part = static_cast<int>(threadIdx.x) % threads_per_row;
  double squares = 0;
  if (a.directions && first + row < a.count) {
    const float* x = a.x + token_of(a, first + row) * a.x_stride;
    for (int c = part; c < a.d; c += threads_per_row)
      squares += static_cast<double>(x[c]) * static_cast<double>(x[c]);
  }
  for (int flip = 1; flip < threads_per_row; flip *= 2)
    squares += __shfl_xor_sync(0xffffffffu, squares, flip);
  if (part == 0) half[row] = a.half * squares;
}

// to[row][c] = from row `first + row`, columns from `column` on; zeros beyond the last.
template <int Rows, class RowOf>
__device__ void load(float (&to)[Rows][width + 1], int column, int d, RowOf row_of) {
  for (int at = static_cast<int>(threadIdx.x); at < Rows * width; at += threads) {
    const int row = at / width, c = at % width;
    const float* from = column + c < d ? row_of(row) : nullptr;
    to[row][c] = from ? from[column + c] : 0.0f;
  }
}

// log2 (elu(x) + 1); NaN stays NaN.
__device__ float log2_elu(float x) {
  constexpr float log2_e = 1.44269504f;
  return x > 0 ? log2f(1.0f + x) : x * log2_e;
}

// 75 registers, 13 KiB of shared memory: six blocks on a multiprocessor. Bound by multiply-adds.
__global__ void __launch_bounds__(threads, 6) feature_logs_kernel(const FeatureLogArgs a) {
  __shared__ float x[rows][width + 1], g[tile][width + 1];
  __shared__ double half[rows];
  const Index first = static_cast<Index>(blockIdx.x) * rows;
  const int tx = static_cast<int>(threadIdx.x) % lanes, ty = static_cast<int>(threadIdx.x) / lanes;
  find_halves(a, first, half);
  __syncthreads();
  float largest[rows_each];
  for (int i = 0; i < rows_each; ++i) largest[i] = -INFINITY;
  for (int begin = 0; begin < a.features; begin += tile) {
    float s[rows_each][features_each] = {};
    for (int column = 0; a.directions && column < a.d; column += width) {
      __syncthreads();
      load(x, column, a.d, [&](int row) {
        return first + row < a.count ? a.x + token_of(a, first + row) * a.x_stride : nullptr;
      });
      load(g, column, a.d, [&](int r) {
        return begin + r < a.features
                   ? a.directions + static_cast<Index>(begin + r) * a.direction_stride
                   : nullptr;
      });
      __syncthreads();
#pragma unroll 8
      for (int c = 0; c < width; ++c)
#pragma unroll
        for (int i = 0; i < rows_each; ++i)
#pragma unroll
          for (int j = 0; j < features_each; ++j)
            s[i][j] = fmaf(g[tx + lanes * j][c], x[ty + bands * i][c], s[i][j]);
    }
#pragma unroll
    for (int i = 0; i < rows_each; ++i)
#pragma unroll
      for (int j = 0; j < features_each; ++j) {
        const int row = ty + bands * i, r = begin + tx + lanes * j;
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
  for (int i = 0; i < rows_each; ++i) {
    for (int flip = lanes / 2; flip > 0; flip /= 2)
      largest[i] = fmaxf(largest[i], __shfl_xor_sync(0xffffffffu, largest[i], flip));
    const int row = ty + bands * i;
    if (first + row >= a.count) continue;
    // Each thread takes it from the numbers that it wrote itself.
    for (int r = tx; r < a.features; r += lanes)
      a.logs[(first + row) * a.log_stride + r] -= largest[i];
    if (tx == 0 && a.factor) a.factor[first + row] = static_cast<double>(largest[i]) - half[row];
  }
}

}  // namespace

void feature_logs(const FeatureLogArgs& args, cudaStream_t stream) {
  launch(feature_logs_kernel,
         {.grid = dim3(static_cast<unsigned>((args.count + rows - 1) / rows)),
          .block = dim3(threads),
          .stream = stream},
         args);
}

}  // namespace fovea::cuda
