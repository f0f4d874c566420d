// The emulated device's memory, streams and events. All work is done when the call returns.
#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

using namespace fovea::emulation;

struct fovea_emulated_stream {};
struct fovea_emulated_event {
  std::chrono::steady_clock::time_point at;
};

namespace {

constexpr std::size_t guard = 256;
constexpr unsigned char guard_byte = 0xA5, poison = 0xFF;  // four of it are a NaN

struct Memory {
  std::mutex mutex;
  std::map<void*, std::size_t> blocks;
  std::size_t limit = std::size_t{8} << 30, used = 0, peak = 0;
  cudaError_t failure = cudaSuccess, image = cudaSuccess;
  int major = 8, minor = 0;  // compute capability
};
Memory& memory() {
  static Memory m;
  return m;
}
// Guard bands must not be read either, which the address sanitizer reports.
void watch([[maybe_unused]] void* guard_band, [[maybe_unused]] bool on) {
#ifdef __SANITIZE_ADDRESS__
  if (on)
    __asan_poison_memory_region(guard_band, guard);
  else
    __asan_unpoison_memory_region(guard_band, guard);
#endif
}
cudaError_t state() {
  const std::lock_guard lock(memory().mutex);
  return memory().failure;
}

}  // namespace

namespace fovea::emulation {

void set_device_memory(std::size_t bytes) {
  const std::lock_guard lock(memory().mutex);
  memory().limit = bytes;
}
std::size_t memory_in_use() {
  const std::lock_guard lock(memory().mutex);
  return memory().used;
}
std::size_t peak_memory() {
  const std::lock_guard lock(memory().mutex);
  return memory().peak;
}
void reset_peak() {
  const std::lock_guard lock(memory().mutex);
  memory().peak = memory().used;
}
void set_compute_capability(int major, int minor) {
  const std::lock_guard lock(memory().mutex);
  memory().major = major;
  memory().minor = minor;
}
void set_failure(cudaError_t error) {
  const std::lock_guard lock(memory().mutex);
  memory().failure = error;
}
void set_image(cudaError_t error) {
  const std::lock_guard lock(memory().mutex);
  memory().image = error;
}
cudaError_t image() {
  const std::lock_guard lock(memory().mutex);
  return memory().image;
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
  return state();
}
cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int) {
  return state();
}
cudaError_t cudaDeviceSynchronize() {
  return state();
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {};
  std::strcpy(properties->name, "emulated");
  properties->major = memory().major;
  properties->minor = memory().minor;
  properties->multiProcessorCount = 2;
  properties->totalGlobalMem = memory().limit;
  properties->sharedMemPerBlockOptin = 227 << 10;
  return state();
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = 0;
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const std::lock_guard lock(memory().mutex);
  *total = memory().limit;
  *free = memory().limit - memory().used;
  return memory().failure;
}
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t*, int) {
  return state();
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void*) {
  return state();
}
cudaError_t cudaMalloc(void** at, std::size_t bytes) {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  if (m.failure != cudaSuccess) return m.failure;
  if (m.used + bytes > m.limit) return cudaErrorMemoryAllocation;
  auto* block =
      static_cast<unsigned char*>(::operator new (bytes + 2 * guard + 8, std::align_val_t{256}));
  std::memset(block, guard_byte, guard);
  std::memset(block + guard, poison, bytes);
  std::memset(block + guard + bytes, guard_byte, guard);
  watch(block, true);
  // The beginning of the band may share eight bytes, the smallest unit of the sanitizer, with the
  // last values.
  watch(block + guard + (bytes + 7) / 8 * 8, true);
  *at = block + guard;
  m.blocks[*at] = bytes;
  m.used += bytes;
  m.peak = std::max(m.peak, m.used);
  return cudaSuccess;
}
cudaError_t cudaFree(void* at) {
  if (!at) return cudaSuccess;
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto found = m.blocks.find(at);
  if (found == m.blocks.end()) fault("cudaFree of what cudaMalloc did not give");
  auto* bytes = static_cast<unsigned char*>(at);
  watch(bytes - guard, false);
  watch(bytes + (found->second + 7) / 8 * 8, false);
  for (std::size_t i = 0; i < guard; ++i)
    if (bytes[i - guard] != guard_byte || bytes[found->second + i] != guard_byte)
      fault("a write outside a block of device memory");
  m.used -= found->second;
  m.blocks.erase(found);
  ::operator delete (bytes - guard, std::align_val_t{256});
  return cudaSuccess;
}
cudaError_t cudaMallocAsync(void** at, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(at, bytes);
}
cudaError_t cudaFreeAsync(void* at, cudaStream_t) {
  return cudaFree(at);
}
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return state();
}
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind, cudaStream_t) {
  if (width > to_pitch || width > from_pitch) return cudaErrorInvalidValue;
  for (std::size_t row = 0; row < height; ++row)
    std::memcpy(static_cast<char*>(to) + row * to_pitch,
                static_cast<const char*>(from) + row * from_pitch, width);
  return state();
}
cudaError_t cudaMemsetAsync(void* at, int byte, std::size_t bytes, cudaStream_t) {
  std::memset(at, byte, bytes);
  return state();
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  *stream = new fovea_emulated_stream;
  return state();
}
cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  delete stream;
  return cudaSuccess;
}
cudaError_t cudaStreamSynchronize(cudaStream_t) {
  return state();
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new fovea_emulated_event;
  return state();
}
cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->at = std::chrono::steady_clock::now();
  return state();
}
cudaError_t cudaEventSynchronize(cudaEvent_t) {
  return state();
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t from, cudaEvent_t to) {
  *milliseconds = std::chrono::duration<float, std::milli>(to->at - from->at).count();
  return state();
}
