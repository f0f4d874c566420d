// CUDA's execution model and the part of its runtime that Fovea uses, on the host: a launch runs
// its blocks one after another, and the threads of a block side by side, with barriers where the
// device has barriers. It replaces the toolkit's header of the same name, so that the kernels
// compile unchanged. The thread sanitizer reports a missing __syncthreads as a race. Device memory
// has guard bands and is poisoned (NaN) at first. No block sees what another one of its launch
// writes (isolation.h), and launches and copies are done when the host waits for them (queue.cpp).
#pragma once

#include <atomic>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <tuple>
#include <vector>

// ---- Language --------------------------------------------------------------------------------

#define __global__
#define __device__
#define __host__
#define __constant__ static const
#define __forceinline__ inline
#define __shared__ static  // blocks run one after another, so each has it alone
#define __launch_bounds__(...)

struct uint3 {
  unsigned x, y, z;
};
struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
inline float2 make_float2(float x, float y) {
  return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}
inline int2 make_int2(int x, int y) {
  return {x, y};
}
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) {
  return {x, y, z, w};
}

// ---- Threads of a block together -------------------------------------------------------------

namespace fovea::emulation {

struct Warp;
struct Block;
struct Products;
/// A thread of the current block.
struct Thread {
  uint3 index{}, block_index{};
  Block* block = nullptr;
  Warp* warp = nullptr;
  int lane = 0;
  int parity = 0;  // of exchanges: with two slots, one barrier for each exchange is enough
  struct Copy {
    void* to;
    const void* from;  // null: zeros
  };
  std::vector<Copy> copies;             // asynchronous ones, not yet made
  std::vector<std::size_t> group_ends;  // where each group ends in `copies`
  struct AtomicUse {
    void* at;
    std::size_t bytes;
  };
  std::vector<AtomicUse> atomics;      // of this block
  std::shared_ptr<Products> products;  // of warpgroups; null if none so far
};
inline thread_local Thread* self = nullptr;

/// Waits for all threads of the block that have not returned.
void sync_block();
/// Waits for all threads of the warp that have not returned.
void sync_warp();
/// Each lane provides a value and receives that of lane `source` (in [0, 32)).
std::uint64_t exchange(std::uint64_t value, int source);
/// The values of all lanes of the warp; of lanes beyond the block: 0.
struct Lanes {
  std::uint64_t value[32];
};
Lanes gather(std::uint64_t value);
/// A lane's part of the factors of a product of a warp, widened: lane l has of rows l / 4 and
/// l / 4 + 8 of a, and of column l / 4 of b, the depths 2 (l % 4), the next, and those eight on.
struct Factors {
  float a[2][4], b[4];
};
/// Those of all lanes, until this lane provides others. For a caller in the scope of an Unseen.
const Factors* gather(const Factors& its);
inline int lane() {
  return self->lane;
}
/// The block's dynamic shared memory: 16-byte aligned, poisoned when a block begins.
void* dynamic_shared_memory();

/// Ends the program after a mistake that would also make the device fail.
[[noreturn]] void fault(const char* what);

template <class T>
std::uint64_t bits_of(T value) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  return bits;
}
template <class T>
T value_of(std::uint64_t bits) {
  T value;
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}
inline void note_atomic(void* at, std::size_t bytes) {
  auto& noted = self->atomics;
  if (noted.empty() || noted.back().at != at) noted.push_back({at, bytes});
}
inline void require_whole_warp(unsigned mask) {
  if (mask != 0xffffffffu) fault("a warp operation with a partial mask");
}

}  // namespace fovea::emulation

#define threadIdx (fovea::emulation::self->index)
#define blockIdx (fovea::emulation::self->block_index)
inline thread_local dim3 blockDim, gridDim;  // the same in all threads of a launch

inline void __syncthreads() {
  fovea::emulation::sync_block();
}
inline void __syncwarp(unsigned mask = 0xffffffffu) {
  fovea::emulation::require_whole_warp(mask);
  fovea::emulation::sync_warp();
}
template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  namespace e = fovea::emulation;
  e::require_whole_warp(mask);
  const int first = e::lane() / width * width;
  return e::value_of<T>(e::exchange(e::bits_of(value), first + source % width));
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int flip, int width = 32) {
  return __shfl_sync(mask, value, (fovea::emulation::lane() % width) ^ flip, width);
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int own = fovea::emulation::lane() % width, from = own - static_cast<int>(delta);
  return __shfl_sync(mask, value, from < 0 ? own : from, width);
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = 32) {
  const int own = fovea::emulation::lane() % width, from = own + static_cast<int>(delta);
  return __shfl_sync(mask, value, from >= width ? own : from, width);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  namespace e = fovea::emulation;
  e::require_whole_warp(mask);
  const e::Lanes all = e::gather(predicate != 0);
  unsigned votes = 0;
  for (unsigned l = 0; l < 32; ++l) votes |= static_cast<unsigned>(all.value[l]) << l;
  return votes;
}
inline int __any_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, predicate) != 0;
}
inline int __all_sync(unsigned mask, int predicate) {
  return __ballot_sync(mask, !predicate) == 0;
}

// ---- Atomics, arithmetic ---------------------------------------------------------------------

template <class T>
T atomicAdd(T* at, T value) {
  fovea::emulation::note_atomic(at, sizeof(T));
  return std::atomic_ref<T>(*at).fetch_add(value, std::memory_order_relaxed);
}
template <class T>
T atomicMax(T* at, T value) {
  fovea::emulation::note_atomic(at, sizeof(T));
  std::atomic_ref<T> ref(*at);
  T old = ref.load(std::memory_order_relaxed);
  while (old < value && !ref.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
  return old;
}
template <class T>
T atomicMin(T* at, T value) {
  fovea::emulation::note_atomic(at, sizeof(T));
  std::atomic_ref<T> ref(*at);
  T old = ref.load(std::memory_order_relaxed);
  while (value < old && !ref.compare_exchange_weak(old, value, std::memory_order_relaxed)) {
  }
  return old;
}
template <class T>
T __ldg(const T* at) {
  return *at;
}
inline float __int_as_float(int x) {
  return fovea::emulation::value_of<float>(static_cast<unsigned>(x));
}
inline int __float_as_int(float x) {
  return static_cast<int>(fovea::emulation::bits_of(x));
}
inline unsigned __float_as_uint(float x) {
  return static_cast<unsigned>(fovea::emulation::bits_of(x));
}
inline float __uint_as_float(unsigned x) {
  return fovea::emulation::value_of<float>(x);
}
inline int __popc(unsigned x) {
  return __builtin_popcount(x);
}
// Never fused with another operation, even where the compiler may fuse others.
inline float __fmul_rn(float x, float y) {
  float product = x * y;
#ifdef FOVEA_LIKE_HARDWARE
  asm("" : "+x"(product));
#endif
  return product;
}
inline float __fadd_rn(float x, float y) {
  float sum = x + y;
#ifdef FOVEA_LIKE_HARDWARE
  asm("" : "+x"(sum));
#endif
  return sum;
}
inline float rsqrtf(float x) {
  return 1.0f / std::sqrt(x);
}
template <class T>
T min(T a, T b) {
  return b < a ? b : a;
}
template <class T>
T max(T a, T b) {
  return a < b ? b : a;
}

// ---- Runtime ---------------------------------------------------------------------------------

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorInsufficientDriver = 35,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorInvalidResourceHandle = 400,
  cudaErrorNotReady = 600,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchOutOfResources = 701,
  cudaErrorNotSupported = 801
};
enum cudaMemcpyKind {
  cudaMemcpyHostToDevice = 1,
  cudaMemcpyDeviceToHost = 2,
  cudaMemcpyDeviceToDevice = 3
};
inline constexpr unsigned cudaStreamDefault = 0;
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
struct cudaFuncAttributes {};
using cudaStream_t = struct fovea_emulated_stream*;
using cudaMemPool_t = struct fovea_emulated_pool*;
enum cudaMemPoolAttr {
  cudaMemPoolAttrReleaseThreshold = 4,
  cudaMemPoolAttrReservedMemCurrent = 5,
  cudaMemPoolAttrUsedMemCurrent = 7
};
using cudaEvent_t = struct fovea_emulated_event*;
struct cudaUUID_t {
  char bytes[16];
};
struct cudaDeviceProp {
  char name[256];
  cudaUUID_t uuid;
  int major, minor, multiProcessorCount;
  std::size_t totalGlobalMem, sharedMemPerBlockOptin;
};

const char* cudaGetErrorString(cudaError_t);
cudaError_t cudaGetLastError();
cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaSetDevice(int);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaDeviceReset();
cudaError_t cudaGetDeviceProperties(cudaDeviceProp*, int);
cudaError_t cudaDriverGetVersion(int*);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t*, int device);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* value);
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t bytes);
cudaError_t cudaMalloc(void** at, std::size_t bytes);
cudaError_t cudaFree(void* at);
/// Memory of the host, page-locked on a device.
cudaError_t cudaMallocHost(void** at, std::size_t bytes);
cudaError_t cudaFreeHost(void* at);
cudaError_t cudaMallocAsync(void** at, std::size_t bytes, cudaStream_t);
cudaError_t cudaFreeAsync(void* at, cudaStream_t);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                            cudaStream_t);
cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from,
                              std::size_t from_pitch, std::size_t width, std::size_t height,
                              cudaMemcpyKind, cudaStream_t);
cudaError_t cudaMemsetAsync(void* at, int byte, std::size_t bytes, cudaStream_t);
cudaError_t cudaStreamCreate(cudaStream_t*);
cudaError_t cudaStreamCreateWithPriority(cudaStream_t*, unsigned flags, int priority);
cudaError_t cudaDeviceGetStreamPriorityRange(int* lowest, int* highest);
cudaError_t cudaStreamDestroy(cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaEventCreate(cudaEvent_t*);
inline constexpr unsigned cudaEventDisableTiming = 2;
cudaError_t cudaEventCreateWithFlags(cudaEvent_t*, unsigned flags);
cudaError_t cudaEventDestroy(cudaEvent_t);
cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t);
cudaError_t cudaEventSynchronize(cudaEvent_t);
cudaError_t cudaEventQuery(cudaEvent_t);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t);

struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  void* attrs = nullptr;
  unsigned numAttrs = 0;
};

namespace fovea::emulation {

/// Does `work` when the host waits for the stream, after what was asked of the stream before.
void enqueue(cudaStream_t stream, std::function<void()> work);

/// While it lives, events tell a time of its own, which nothing but `pass` moves on.
class PretendedTime {
 public:
  PretendedTime();
  PretendedTime(const PretendedTime&) = delete;
  PretendedTime& operator=(const PretendedTime&) = delete;
  ~PretendedTime();

  /// Queues work that takes so long.
  void pass(cudaStream_t stream, double milliseconds);
};

/// Queues a launch, which runs body once per thread of the grid.
cudaError_t launch(const cudaLaunchConfig_t& config, const void* kernel,
                   const std::function<void()>& body);
cudaError_t allow_shared_memory(const void* kernel, std::size_t bytes);

/// Multiprocessors of devices that are opened from now on; 2 unless told otherwise.
void set_multiprocessors(int count);
/// Bytes of shared memory that blocks of such devices may have, at most; 227 KiB at first.
void set_shared_memory(std::size_t bytes);
std::size_t shared_memory();
/// Bytes of device memory that can be allocated, for tests of running out of memory.
void set_device_memory(std::size_t bytes);
/// Bytes that are allocated, and the most since the last call of reset_peak().
std::size_t memory_in_use();
std::size_t peak_memory();
void reset_peak();
/// The bytes of host memory that can be page-locked from now on, without a limit at first.
void set_lockable_memory(std::size_t bytes);
/// Copies between host and device so far, and the pieces of memory that they took: one where rows
/// follow one another without gaps on both sides, else one for each row.
struct Copies {
  long count = 0, pieces = 0;
  std::size_t bytes = 0;
};
Copies copies_so_far();
/// The compute capability that the device reports, 8.0 at first.
void set_compute_capability(int major, int minor);
/// Makes every later call fail with `error`, as after a lost device, until called with cudaSuccess
/// or the device is reset.
void set_failure(cudaError_t error);
cudaError_t failure();
/// Makes the next launch, and only that, fail with `error`.
void fail_next_launch(cudaError_t error);
/// The same of filling memory.
void fail_next_fill(cudaError_t error);
/// What loading a kernel gives, cudaSuccess at first.
void set_image(cudaError_t error);
cudaError_t image();
/// Whether the last block of a launch runs first, not the first.
void set_descending_blocks(bool descending);

}  // namespace fovea::emulation

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  const std::tuple<Parameters...> copies(std::forward<Arguments>(arguments)...);
  return fovea::emulation::launch(*config, reinterpret_cast<const void*>(kernel),
                                  [kernel, copies] { std::apply(kernel, copies); });
}
template <class Kernel>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes*, Kernel*) {
  return fovea::emulation::image();
}
template <class Kernel>
cudaError_t cudaFuncSetAttribute(Kernel* kernel, cudaFuncAttribute, int bytes) {
  return fovea::emulation::allow_shared_memory(reinterpret_cast<const void*>(kernel),
                                               static_cast<std::size_t>(bytes));
}
