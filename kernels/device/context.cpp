#include "device/context.h"

#include <cuda_runtime.h>

#include <mutex>

namespace fovea::cuda {
namespace {

std::mutex context_mutex;
int context_uses = 0;

}  // namespace

ContextUse::ContextUse() {
  const std::scoped_lock lock(context_mutex);
  ++context_uses;
}

// Errors of the reset itself are reported by what is called next.
ContextUse::~ContextUse() {
  const std::scoped_lock lock(context_mutex);
  if (--context_uses > 0 || cudaDeviceSynchronize() == cudaSuccess) return;
  cudaDeviceReset();
  cudaGetLastError();
}

}  // namespace fovea::cuda
