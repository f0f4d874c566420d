#include "device/fill.h"
#include "device/launch.h"

namespace fovea::cuda {
namespace {

constexpr int fill_threads = 256;

// 10 registers, eight blocks on a multiprocessor. Bound by memory.
__global__ void __launch_bounds__(fill_threads)
    fill_kernel(float* values, Index count, float value) {
  const Index at = static_cast<Index>(blockIdx.x) * fill_threads + threadIdx.x;
  if (at < count) values[at] = value;
}

}  // namespace

void fill(float* values, Index count, float value, cudaStream_t stream) {
  launch(fill_kernel,
         {.grid = dim3(static_cast<unsigned>((count + fill_threads - 1) / fill_threads)),
          .block = dim3(fill_threads),
          .stream = stream},
         values, count, value);
}

}  // namespace fovea::cuda
