#include "device/device.h"

#include <fstream>

#include "data/error.h"
#include "device/check.h"
#include "device/image.h"

#ifndef FOVEA_BUILT_FOR  // compute capabilities; tests need no device
#define FOVEA_BUILT_FOR "none"
#endif

namespace fovea::cuda {

namespace {

void require_device() {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  int driver = 0;
  if (error == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess &&
      driver == 0)
    throw UnavailableError("CUDA: no driver of a GPU is installed");
  if (error != cudaSuccess || count == 0)
    throw UnavailableError(std::string("CUDA: ") +
                           (error != cudaSuccess ? cudaGetErrorString(error) : "no device"));
}

/// "580.65.06" of the line "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.65.06  Sun ...",
/// or where there is no such file the version of CUDA that the driver supports.
std::string driver_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string word;
  while (file >> word)
    if (word.find('.') != std::string::npos &&
        word.find_first_not_of("0123456789.") == std::string::npos)
      return word;
  int version = 0;
  check(cudaDriverGetVersion(&version), "reading the version of the driver");
  return "for CUDA " + std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

std::string hexadecimal(const char* bytes, std::size_t count) {
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    text += {digits[byte >> 4], digits[byte & 15]};
  }
  return text;
}

}  // namespace

CudaDevice first_device() {
  require_device();
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, 0), "reading the properties of the device");
  return {.name = properties.name,
          .capability = 10 * properties.major + properties.minor,
          .bytes = properties.totalGlobalMem,
          .driver = driver_version(),
          .id = hexadecimal(properties.uuid.bytes, sizeof properties.uuid.bytes)};
}

Device::Device(bool poison) : poison_(poison) {
  require_device();
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
