#include "device/check.h"

#include <string>

#include "data/error.h"

namespace fovea::cuda {

namespace {

// Whether later calls fail as well. An error of a single call (a launch that the device does not
// support, or that asks for too much of it) is forgotten once it has been read.
bool stays() {
  cudaGetLastError();
  return cudaDeviceSynchronize() != cudaSuccess;
}

}  // namespace

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  const std::string message = "CUDA: " + std::string(what) + ": " + cudaGetErrorString(error);
  if (stays()) throw DeviceLostError(message + "; what this program had on the GPU is lost");
  throw UnavailableError(message);
}

void refuse(const std::string& what) {
  throw UnavailableError("CUDA: there is no kernel for " + what);
}

}  // namespace fovea::cuda
