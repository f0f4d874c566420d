#include "device/device.h"

#include "data/error.h"
#include "device/check.h"
#include "device/image.h"

#ifndef FOVEA_BUILT_FOR  // compute capabilities; tests need no device
#define FOVEA_BUILT_FOR "none"
#endif

namespace fovea::cuda {

Device::Device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);  // also fails without a driver
  if (error != cudaSuccess || count == 0)
    throw UnavailableError(std::string("CUDA: ") +
                           (error != cudaSuccess ? cudaGetErrorString(error) : "no device"));
  check(cudaSetDevice(0), "selecting the device");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "reading the properties of the device");
  name_ = properties.name;
  multiprocessors_ = properties.multiProcessorCount;
  architecture_ = 10 * properties.major + properties.minor;
  shared_per_block_ = properties.sharedMemPerBlockOptin;
  const std::string capability = "CUDA: " + name_ + " has compute capability " +
                                 std::to_string(properties.major) + "." +
                                 std::to_string(properties.minor);
  if (architecture_ < 75) throw UnavailableError(capability + "; expected 7.5 or more");
  if (const cudaError_t failed = load_image(); failed != cudaSuccess)
    throw UnavailableError(capability +
                           "; this program was built for compute capability " FOVEA_BUILT_FOR " (" +
                           cudaGetErrorString(failed) + ")");
  check(cudaStreamCreate(&stream_), "creating a stream");
  keep_freed_memory();
}

// Otherwise every wait would return freed memory to the driver, and the next run would have to
// allocate it again.
void Device::keep_freed_memory() const {
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, 0), "finding the memory pool of the device");
  std::uint64_t kept = kept_bytes;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept),
        "setting how much memory the pool keeps");
}

Device::~Device() {
  cudaStreamDestroy(stream_);
}

void Device::wait() const {
  check(cudaStreamSynchronize(stream_), "waiting for the device");
}

}  // namespace fovea::cuda

namespace fovea {

std::string cuda_capabilities() {
  return FOVEA_BUILT_FOR;
}

}  // namespace fovea
