// check turns an error of the CUDA runtime into an Error.
#pragma once

#include <cuda_runtime.h>

namespace fovea::cuda {

/// Unless `error` is success, throws UnavailableError with what was being done, or DeviceLostError
/// when every later call will fail as well.
void check(cudaError_t error, const char* what);

}  // namespace fovea::cuda
