// What the emulated device says of itself, and the failures that tests ask for.
#include <cuda_runtime.h>

#include <mutex>

using namespace fovea::emulation;

namespace {

struct Properties {
  std::mutex mutex;
  cudaError_t failure = cudaSuccess, image = cudaSuccess;
  int major = 8, minor = 0;  // compute capability
  int multiprocessors = 2;
  std::size_t shared_memory = 227 << 10;
};
Properties& properties() {
  static Properties& p = *new Properties;  // also for what ends after main
  return p;
}

}  // namespace

namespace fovea::emulation {

void set_multiprocessors(int count) {
  properties().multiprocessors = count;
}
void set_shared_memory(std::size_t bytes) {
  const std::lock_guard lock(properties().mutex);
  properties().shared_memory = bytes;
}
std::size_t shared_memory() {
  const std::lock_guard lock(properties().mutex);
  return properties().shared_memory;
}
void set_compute_capability(int major, int minor) {
  const std::lock_guard lock(properties().mutex);
  properties().major = major;
  properties().minor = minor;
}
void set_failure(cudaError_t error) {
  const std::lock_guard lock(properties().mutex);
  properties().failure = error;
}
cudaError_t failure() {
  const std::lock_guard lock(properties().mutex);
  return properties().failure;
}
void set_image(cudaError_t error) {
  const std::lock_guard lock(properties().mutex);
  properties().image = error;
}
cudaError_t image() {
  const std::lock_guard lock(properties().mutex);
  return properties().image;
}

}  // namespace fovea::emulation

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInvalidResourceHandle:
      return "invalid resource handle";
    case cudaErrorNotReady:
      return "device not ready";
    case cudaErrorInvalidConfiguration:
      return "invalid configuration argument";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient";
    case cudaErrorNoKernelImageForDevice:
      return "no kernel image is available for the device";
    case cudaErrorInvalidDeviceFunction:
      return "invalid device function";
    case cudaErrorLaunchOutOfResources:
      return "too many resources requested for launch";
    case cudaErrorNotSupported:
      return "operation not supported";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
    case cudaErrorIllegalAddress:
      return "an illegal memory access was encountered";
  }
  return "unknown error";
}
cudaError_t cudaGetLastError() {
  return failure();
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) {
  return failure();
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* of, int) {
  *of = {};
  std::strcpy(of->name, "emulated");
  of->major = properties().major;
  of->minor = properties().minor;
  of->multiProcessorCount = properties().multiprocessors;
  std::size_t free = 0;
  cudaMemGetInfo(&free, &of->totalGlobalMem);
  of->sharedMemPerBlockOptin = shared_memory();
  return failure();
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 0;
  return cudaSuccess;
}
