#include <cuda_runtime.h>

#include "kernels/lost_device/lose_device.h"

namespace fovea::test {

void lose_device() {
  emulation::set_failure(cudaErrorIllegalAddress);
}

}  // namespace fovea::test
