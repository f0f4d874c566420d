// launch asks for a kernel: grid, block, shared memory. Included by .cu files only.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <utility>

#include "device/check.h"

namespace fovea::cuda {

struct LaunchShape {
  dim3 grid, block;
  std::size_t shared_bytes = 0;  // dynamic
  cudaStream_t stream = nullptr;
};

/// Nothing is launched for an empty grid.
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), const LaunchShape& shape, Arguments&&... arguments) {
  if (shape.grid.x == 0 || shape.grid.y == 0 || shape.grid.z == 0) return;
  if (shape.shared_bytes > (48u << 10))
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                               static_cast<int>(shape.shared_bytes)),
          "reserving shared memory");
  cudaLaunchConfig_t config{};
  config.gridDim = shape.grid;
  config.blockDim = shape.block;
  config.dynamicSmemBytes = shape.shared_bytes;
  config.stream = shape.stream;
  check(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...),
        "launching a kernel");
}

}  // namespace fovea::cuda
