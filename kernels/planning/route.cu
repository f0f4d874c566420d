#include "device/launch.h"
#include "planning/route.h"

namespace fovea::cuda {
namespace {

constexpr int route_threads = 256, route_lanes = 8;  // of a row: lane l adds columns l, l + 8, ...
constexpr int route_rows_per_block = route_threads / route_lanes;

// The same in all lanes of the row.
__device__ float score(const RouteArgs& a, const float* x, Index row, int lane) {
  const float* weight = a.weight + row * a.weight_stride;
  float sum = 0;
  for (int c = lane; c < a.d; c += route_lanes) sum = __fadd_rn(sum, __fmul_rn(weight[c], x[c]));
#pragma unroll
  for (int flip = route_lanes / 2; flip > 0; flip /= 2)
    sum = __fadd_rn(sum, __shfl_xor_sync(0xffffffffu, sum, flip));
  return __fadd_rn(a.bias[row], sum);
}

__device__ Index child(const RouteArgs& a, const RouteLevel& level, Index node, const float* x,
                       int lane) {
  if (level.by_sign) return score(a, x, level.first_row + node, lane) >= 0 ? 1 : 0;
  const Index first = level.first_row + node * level.branching;
  Index best = 0;
  float top = score(a, x, first, lane);
  for (int c = 1; c < level.branching; ++c) {
    const float s = score(a, x, first + c, lane);
    if (s > top) {
      top = s;
      best = c;
    }
  }
  return best;
}

// 64 registers, four blocks on a multiprocessor. Bound by latency: a split decides which one is
// read next.
__global__ void __launch_bounds__(route_threads) route_kernel(const RouteArgs a) {
  const int lane = static_cast<int>(threadIdx.x) % route_lanes;
  const Index i = static_cast<Index>(blockIdx.x) * route_rows_per_block + threadIdx.x / route_lanes;
  // A warp exchanges values as a whole, so rows beyond the last take part.
  const float* x = a.x + min(i, a.count - 1) * a.x_stride;
  Index node = 0;
  for (int l = 0; l < a.height; ++l) {
    const RouteLevel level = a.levels[l];
    node = node * level.branching + child(a, level, node, x, lane);
  }
  if (i < a.count && lane == 0) a.leaf[i] = static_cast<std::int32_t>(node);
}

}  // namespace

void route(const RouteArgs& args, cudaStream_t stream) {
  launch(route_kernel,
         {.grid = dim3(static_cast<unsigned>((args.count + route_rows_per_block - 1) /
                                             route_rows_per_block)),
          .block = dim3(route_threads),
          .stream = stream},
         args);
}

}  // namespace fovea::cuda
