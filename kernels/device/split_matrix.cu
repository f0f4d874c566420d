#include <algorithm>

#include "device/launch.h"
#include "device/split_matrix.h"
#include "ptx.h"

namespace fovea::cuda {
namespace {

constexpr int split_threads = 128, size_lanes = 32, split_columns = 8;
constexpr Index most_blocks = 1024;

__device__ float finite_size(float x) {
  const float size = fabsf(x);
  return size < INFINITY ? size : 0.0f;  // also for NaN
}

// A warp for each row at a time. Bound by memory: every number is read once.
__global__ void __launch_bounds__(split_threads) row_sizes_kernel(const RowSizesArgs a) {
  const int lane = static_cast<int>(threadIdx.x) % size_lanes;
  const Index warps = static_cast<Index>(gridDim.x) * (split_threads / size_lanes);
  float largest = 0, least = INFINITY;
  for (Index row = (static_cast<Index>(blockIdx.x) * split_threads + threadIdx.x) / size_lanes;
       row < a.count; row += warps) {
    const auto* its = reinterpret_cast<const float4*>(a.rows + row * a.stride);
    float size = 0;
    for (int c = lane; c < a.stride / 4; c += size_lanes) {
      const float4 x = its[c];
      size = fmaxf(fmaxf(size, fmaxf(finite_size(x.x), finite_size(x.y))),
                   fmaxf(finite_size(x.z), finite_size(x.w)));
    }
#pragma unroll
    for (int flip = 1; flip < size_lanes; flip *= 2)
      size = fmaxf(size, __shfl_xor_sync(0xffffffffu, size, flip));
    largest = fmaxf(largest, size);
    if (size > 0) least = fminf(least, size);
  }
  if (lane != 0) return;
  atomicMax(a.sizes, __float_as_uint(largest));  // as floats >= 0 are ordered, so are their bits
  atomicMin(a.sizes + 1, __float_as_uint(least));
}

struct Split {
  std::uint32_t high, low;

  __device__ Split(float x, float y) {
    high = pack_16<Precision::fp16>(x, y);
    const float2 kept = unpack_fp16(high);
    constexpr float shift = 1 << low_shift;
    low = pack_16<Precision::fp16>((x - kept.x) * shift, (y - kept.y) * shift);
  }
};

// One thread per row and eight columns. Bound by memory.
__global__ void __launch_bounds__(split_threads) split_kernel(const SplitArgs a) {
  const Index at = static_cast<Index>(blockIdx.x) * split_threads + threadIdx.x;
  const Index groups = a.to_stride / split_columns, row = at / groups;
  if (row >= a.rows) return;
  const int column = static_cast<int>(at % groups) * split_columns;
  const auto* from = reinterpret_cast<const float4*>(a.from + row * a.from_stride + column);
  const float4 zero = make_float4(0, 0, 0, 0);
  const float4 x = column < a.from_stride ? from[0] : zero,
               y = column + 4 < a.from_stride ? from[1] : zero;
  const float f = a.factor;
  const Split parts[4] = {
      {x.x * f, x.y * f}, {x.z * f, x.w * f}, {y.x * f, y.y * f}, {y.z * f, y.w * f}};
  std::uint16_t* to = a.to + row * a.to_stride + column;
  *reinterpret_cast<uint4*>(to) =
      make_uint4(parts[0].high, parts[1].high, parts[2].high, parts[3].high);
  *reinterpret_cast<uint4*>(to + a.low) =
      make_uint4(parts[0].low, parts[1].low, parts[2].low, parts[3].low);
}

}  // namespace

void find_row_sizes(const RowSizesArgs& args, cudaStream_t stream) {
  const Index blocks = (args.count + split_threads / size_lanes - 1) / (split_threads / size_lanes);
  launch(row_sizes_kernel,
         {.grid = dim3(static_cast<unsigned>(std::min(blocks, most_blocks))),
          .block = dim3(split_threads),
          .stream = stream},
         args);
}

void split_rows(const SplitArgs& args, cudaStream_t stream) {
  const Index groups = args.rows * (args.to_stride / split_columns);
  launch(split_kernel,
         {.grid = dim3(static_cast<unsigned>((groups + split_threads - 1) / split_threads)),
          .block = dim3(split_threads),
          .stream = stream},
         args);
}

}  // namespace fovea::cuda
