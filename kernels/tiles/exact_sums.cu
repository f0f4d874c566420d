#include "device/launch.h"
#include "tiles/exact_sums.cuh"

namespace fovea::cuda {
namespace {

constexpr int exact_sum_threads = 128;

// One thread per pixel. 31 registers, no shared memory; bound by memory: each word is read once.
__global__ void __launch_bounds__(exact_sum_threads)
    round_sums_kernel(const ExactWords sums, Index count, float* totals) {
  const Index at = static_cast<Index>(blockIdx.x) * exact_sum_threads + threadIdx.x;
  if (at >= count || totals[at] != 0) return;
  const int words = 256 >> sums.log2_orders;
  double total = 0;
  for (int w = 0; w < words; ++w)  // from the smallest
    total += ldexp(static_cast<double>(sums.words[at * words + w]), (w << sums.log2_orders) - 150);
  totals[at] = static_cast<float>(total);
}

}  // namespace

void round_sums(const ExactWords& sums, Index count, float* totals, cudaStream_t stream) {
  launch(round_sums_kernel,
         {.grid = dim3(static_cast<unsigned>((count + exact_sum_threads - 1) / exact_sum_threads)),
          .block = dim3(exact_sum_threads),
          .stream = stream},
         sums, count, totals);
}

}  // namespace fovea::cuda
