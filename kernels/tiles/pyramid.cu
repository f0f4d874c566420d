#include "device/cells.cuh"
#include "tiles/pyramid.h"
#include "tiles/tile_list.h"

namespace fovea::cuda {
namespace {

constexpr int coarsen_threads = 128;

// One thread per cluster and column. 22 registers, no shared memory; bound by memory.
__global__ void __launch_bounds__(coarsen_threads)
    coarsen_kernel(const float* below, Index below_count, float* means, Index count, int stride,
                   int level, Index n) {
  const auto [cluster, column] = own_cell_of_rows();
  if (cluster >= count || column >= stride) return;
  const float left = below[2 * cluster * stride + column];
  float mean = left;
  if (2 * cluster + 1 < below_count) {
    const Index half = Index{1} << (level - 1), begin = (2 * cluster + 1) * half;
    const Index right_tokens = min(n - begin, half);
    const float share = static_cast<float>(right_tokens) / static_cast<float>(half + right_tokens);
    mean = left * (1.0f - share) + below[(2 * cluster + 1) * stride + column] * share;
  }
  means[cluster * stride + column] = mean;
}

}  // namespace

void coarsen(float* rows, Index n, int stride, int top, cudaStream_t stream) {
  float* below = rows;
  for (int level = 1; level <= top; ++level) {
    const Index below_count = clusters(n, level - 1), count = clusters(n, level);
    float* means = below + below_count * stride;
    launch(coarsen_kernel, rows_of_cells<coarsen_threads>(count, stride, stream), below,
           below_count, means, count, stride, level, n);
    below = means;
  }
}

}  // namespace fovea::cuda
