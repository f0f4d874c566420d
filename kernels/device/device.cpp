#include "device/device.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "backend/backends.h"
#include "data/error.h"
#include "device/check.h"
#include "device/image.h"
#include "device/wgmma.h"

#ifndef FOVEA_BUILT_FOR  // compute capabilities; tests need no device
#define FOVEA_BUILT_FOR "none"
#endif

namespace fovea::cuda {

namespace {

// GPUs for data centres have 16 times as many products of fp16 in a clock as of fp32 (8.0: 1024 and
// 64 for each multiprocessor; 9.0: 2048 and 128; 10.0: more); the others, down to GeForce, whose
// tensor cores add to fp32 at half the rate, 2 or 4 times: those take less than three products.
bool split_is_faster(int capability) {
  return capability == 80 || capability == 90 || capability == 100 || capability == 103;
}

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

// Later compute capabilities have other instructions. FOVEA_WGMMA=0 leaves them out, to compare.
bool has_wgmma(int capability) {
  if constexpr (wgmma_built) {
    const char* wanted = std::getenv("FOVEA_WGMMA");
    return capability == 90 && (!wanted || *wanted != '0') && has_tensor_maps();
  }
  return false;
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
          .id = hexadecimal(properties.uuid.bytes, sizeof properties.uuid.bytes),
          .split_is_faster = split_is_faster(10 * properties.major + properties.minor),
          .wgmma = has_wgmma(10 * properties.major + properties.minor)};
}

Device::Device(bool poison, bool wgmma, Priority priority) : poison_(poison) {
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
  wgmma_ = wgmma && has_wgmma(architecture_);
  keep_freed_memory(properties.totalGlobalMem);
  int lowest = 0, highest = 0;
  check(cudaDeviceGetStreamPriorityRange(&lowest, &highest), "reading the priorities of streams");
  check(cudaStreamCreateWithPriority(&stream_, cudaStreamDefault,
                                     priority == Priority::high ? highest : lowest),
        "creating a stream");
}

// Otherwise every wait would return freed memory to the driver, and the next run would have to
// allocate it again. Other programs can use the rest.
void Device::keep_freed_memory(std::size_t all_bytes) {
  check(cudaDeviceGetDefaultMemPool(&pool_, 0), "finding the memory pool of the device");
  std::uint64_t kept = std::min<std::uint64_t>(all_bytes / 8, std::uint64_t{1} << 30);
  check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &kept),
        "setting how much memory the pool keeps");
}

Device::~Device() {
  cudaStreamSynchronize(stream_);
  cudaStreamDestroy(stream_);
  cudaMemPoolTrimTo(pool_, 0);  // what is not used, of other Devices too
}

double Device::free_bytes() const {
  std::size_t free = 0, total = 0;
  std::uint64_t reserved = 0, used = 0;  // by the pool, and of it
  check(cudaMemGetInfo(&free, &total), "reading how much memory is free");
  check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved),
        "reading how much memory the pool has");
  check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrUsedMemCurrent, &used),
        "reading how much memory of the pool is used");
  return static_cast<double>(free) + static_cast<double>(reserved - std::min(used, reserved));
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
