#include "device/device.h"

#include "data/error.h"
#include "device/check.h"

namespace fovea::cuda {

Device::Device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);  // fails without a driver, too
  if (error != cudaSuccess || count == 0)
    throw UnavailableError(std::string("CUDA: ") +
                           (error != cudaSuccess ? cudaGetErrorString(error) : "no device"));
  check(cudaSetDevice(0), "choosing the device");
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "asking the device for its properties");
  name_ = properties.name;
  multiprocessors_ = properties.multiProcessorCount;
  architecture_ = 10 * properties.major + properties.minor;
  shared_per_block_ = properties.sharedMemPerBlockOptin;
  if (architecture_ < 75)
    throw UnavailableError("CUDA: " + name_ + " has compute capability " +
                           std::to_string(properties.major) + "." +
                           std::to_string(properties.minor) + ": 7.5 or more expected");
  check(cudaStreamCreate(&stream_), "making a stream");
  keep_freed_memory();
}

// Else every wait would hand freed memory back to the driver, and the next run would pay for it.
void Device::keep_freed_memory() const {
  cudaMemPool_t pool = nullptr;
  check(cudaDeviceGetDefaultMemPool(&pool, 0), "asking for the device's memory pool");
  std::uint64_t kept = kept_bytes;
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept),
        "setting what the memory pool keeps");
}

Device::~Device() {
  cudaStreamDestroy(stream_);
}

void Device::wait() const {
  check(cudaStreamSynchronize(stream_), "waiting for the device");
}

}  // namespace fovea::cuda
