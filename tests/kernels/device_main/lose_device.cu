#include <cuda_runtime.h>

#include "kernels/lost_device/lose_device.h"

namespace fovea::test {
namespace {

__global__ void trap_kernel() {
  asm("trap;");
}

}  // namespace

void lose_device() {
  trap_kernel<<<1, 1>>>();
  cudaDeviceSynchronize();
}

}  // namespace fovea::test
