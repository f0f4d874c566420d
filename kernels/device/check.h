// check turns an error of the CUDA runtime into one of Fovea's.
#pragma once

#include <cuda_runtime.h>

namespace fovea::cuda {

/// Unless `error` is success, throws UnavailableError, saying what was tried, or DeviceLostError
/// when nothing will succeed any more.
void check(cudaError_t error, const char* what);

}  // namespace fovea::cuda
