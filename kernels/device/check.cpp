#include "device/check.h"

#include <string>

#include "data/error.h"

namespace fovea::cuda {

namespace {

// Errors of one call; all others come back from every later call of this process.
bool passes(cudaError_t error) {
  return error == cudaErrorMemoryAllocation || error == cudaErrorInvalidValue ||
         error == cudaErrorInvalidConfiguration || error == cudaErrorNoDevice ||
         error == cudaErrorInsufficientDriver || error == cudaErrorNoKernelImageForDevice;
}

}  // namespace

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  const std::string message = "CUDA: " + std::string(what) + ": " + cudaGetErrorString(error);
  if (!passes(error)) throw DeviceLostError(message);
  cudaGetLastError();  // or the next call would report it again
  throw UnavailableError(message);
}

}  // namespace fovea::cuda
