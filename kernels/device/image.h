// The image is the code of the kernels for the GPUs that they were compiled for.
#pragma once

#include <cuda_runtime.h>

namespace fovea::cuda {

/// Whether the current device can run the kernels; otherwise the error that loading them gave. All
/// kernels are compiled for the same GPUs, so it tries one.
cudaError_t load_image();

}  // namespace fovea::cuda
