#include "device/launch.h"
#include "ptx.h"
#include "tiles/segments.h"

namespace fovea::cuda {
namespace {

constexpr int threads = 128;

// One thread a pixel that the launch touches.
__global__ void __launch_bounds__(threads) pool_segments_kernel(const PoolSegmentsArgs a) {
  const Index cell = static_cast<Index>(blockIdx.x) * threads + threadIdx.x;
  const Index columns = a.segments.columns, pixel = a.segments.pixel,
              map_row = a.first / pixel + cell / columns;
  const Index begin = max(map_row * pixel - a.first, Index{0}),
              end = min((map_row + 1) * pixel - a.first, a.rows);
  const auto column = static_cast<int>(cell % columns);
  if (begin >= end) return;
  float& most_so_far = a.most[map_row * columns + column];
  double& sum_so_far = a.sum[map_row * columns + column];
  float most = most_so_far;
  double sum = sum_so_far;
  for (Index strip = begin / a.height; strip * a.height < end; ++strip) {
    const int2 seen = a.segments.seen[strip];
    if (column < seen.x || column >= seen.y) continue;
    const Index last = min((strip + 1) * a.height, end);
#pragma unroll 4
    for (Index row = max(strip * a.height, begin); row < last; ++row) {
      const float2 segment = a.segments.found[row * columns + column];
      const float total = a.log2_sum[row];
      const bool none =
          segment.y == -INFINITY;  // no key: not of a total that is -inf or NaN either
      most = fmaxf(most, none ? 0.0f : exp2_fast(segment.x - total));
      sum += none ? 0.0f : exp2_fast(segment.y - total);
    }
  }
  most_so_far = most;
  sum_so_far = sum;
}

}  // namespace

void pool_segments(const PoolSegmentsArgs& args, cudaStream_t stream) {
  const Index pixel = args.segments.pixel,
              map_rows = (args.first + args.rows - 1) / pixel - args.first / pixel + 1,
              cells = map_rows * args.segments.columns;
  launch(pool_segments_kernel,
         {.grid = dim3(static_cast<unsigned>((cells + threads - 1) / threads)),
          .block = dim3(threads),
          .stream = stream},
         args);
}

}  // namespace fovea::cuda
