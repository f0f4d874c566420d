#include "check.h"

#include <string>

#include "data/error.h"

namespace fovea::cuda {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  throw UnavailableError("CUDA: " + std::string(what) + ": " + cudaGetErrorString(error));
}

}  // namespace fovea::cuda
