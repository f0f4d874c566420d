// check turns an error of the CUDA runtime into an Error; refuse is what a launcher does that has
// no kernel for its arguments.
#pragma once

#include <cuda_runtime.h>

#include <string>

namespace fovea::cuda {

/// Unless `error` is success, throws UnavailableError with what was being done, or DeviceLostError
/// when every later call fails as well.
void check(cudaError_t error, const char* what);

/// Throws UnavailableError: there is no kernel for `what`.
[[noreturn]] void refuse(const std::string& what);

}  // namespace fovea::cuda
