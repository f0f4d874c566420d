#include "device/launch.h"
#include "ptx.h"
#include "tiles/segments.h"

namespace fovea::cuda {
namespace {

constexpr int segment_threads = 128;

// One thread for each pixel that the launch touches. 60 registers, no shared memory; bound by
// memory: each segment is read once.
__global__ void __launch_bounds__(segment_threads) pool_segments_kernel(const PoolSegmentsArgs a) {
  const unsigned cell = blockIdx.x * segment_threads + threadIdx.x,
                 its_columns = static_cast<unsigned>(a.segments.columns);
  const Index columns = a.segments.columns, pixel = a.segments.pixel,
              map_row = a.first_map_row + cell / its_columns;
  const Index begin = max(map_row * pixel - a.first, Index{0}),
              end = min((map_row + 1) * pixel - a.first, a.rows);
  const auto column = static_cast<int>(cell % its_columns);
  if (begin >= end) return;
  float& most_so_far = a.most[map_row * columns + column];
  double& sum_so_far = a.sum[map_row * columns + column];
  float most = most_so_far;
  double sum = sum_so_far;
  for (Index tile = static_cast<unsigned>(begin) / static_cast<unsigned>(a.height);
       tile * a.height < end; ++tile) {
    const Index first = tile * a.height, last = min(first + a.height, end);
    for (Index block = a.first_block[tile]; block < a.first_block[tile + 1]; ++block) {
      const Index its = block - a.first_block[0];
      const int2 seen = a.segments.seen[its];
      if (column < seen.x || column >= seen.y) continue;
#pragma unroll 4
      for (Index row = max(first, begin); row < last; ++row) {
        const float2 segment = a.segments.found[(its * a.height + row - first) * columns + column];
        const float total = a.log2_sum[row];
        // No key is admitted, even where the total is -inf or NaN. A sum alone may underflow, and
        // of logits that are all NaN the maximum is -inf too.
        const bool none = segment.x == -INFINITY && segment.y == -INFINITY;
        most = fmaxf(most, none ? 0.0f : exp2_fast(segment.x - total));
        sum += none ? 0.0f : exp2_fast(segment.y - total);
      }
    }
  }
  most_so_far = most;
  sum_so_far = sum;
}

}  // namespace

void pool_segments(PoolSegmentsArgs args, cudaStream_t stream) {
  const Index pixel = args.segments.pixel;
  args.first_map_row = args.first / pixel;
  const Index map_rows = (args.first + args.rows - 1) / pixel - args.first_map_row + 1,
              cells = map_rows * args.segments.columns;
  launch(pool_segments_kernel,
         {.grid = dim3(static_cast<unsigned>((cells + segment_threads - 1) / segment_threads)),
          .block = dim3(segment_threads),
          .stream = stream},
         args);
}

}  // namespace fovea::cuda
