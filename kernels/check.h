// check turns an error of the CUDA runtime into one of Fovea's.
#pragma once

#include <cuda_runtime.h>

namespace fovea::cuda {

/// Throws UnavailableError, saying what was tried, unless `error` is success.
void check(cudaError_t error, const char* what);

}  // namespace fovea::cuda
