// The emulated device's memory: guard bands, poison, the limit that tests set, and what the pool
// keeps of freed memory. There is one pool, for all memory, and its memory is in one piece.
#include "memory.h"

#include <cuda_runtime.h>

#include <algorithm>
#include <limits>
#include <map>
#include <mutex>
#include <new>

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif

using namespace fovea::emulation;

namespace {

std::atomic<std::size_t> lockable_memory = std::numeric_limits<std::size_t>::max();

constexpr std::size_t guard = 256;
constexpr unsigned char guard_byte = 0xA5, poison = 0xFF;  // four of it are a NaN

struct Memory {
  struct Block {
    std::size_t bytes = 0;
    bool freed = false;  // in the order of a stream, which has not come to it
  };
  std::mutex mutex;
  std::map<unsigned char*, Block> blocks;
  std::size_t limit = std::size_t{8} << 30, used = 0, peak = 0;
  std::size_t kept = 0, threshold = 0;  // freed, and not free for other programs
};
Memory& memory() {
  static Memory& m = *new Memory;  // also for what ends after main
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

// From now on its bytes can be allocated again.
void give_back(void* at) {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto found = m.blocks.find(static_cast<unsigned char*>(at));
  if (found == m.blocks.end() || found->second.freed)
    fault("cudaFree of what cudaMalloc did not give");
  found->second.freed = true;
  m.used -= found->second.bytes;
  m.kept += found->second.bytes;
}

void release(void* at) {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  const auto found = m.blocks.find(static_cast<unsigned char*>(at));
  auto* const bytes = found->first;
  const std::size_t count = found->second.bytes;
  watch(bytes - guard, false);
  watch(bytes + (count + 7) / 8 * 8, false);
  for (std::size_t i = 0; i < guard; ++i)
    if (bytes[i - guard] != guard_byte || bytes[count + i] != guard_byte)
      fault("a write outside a block of device memory");
  m.blocks.erase(found);
  ::operator delete (bytes - guard, std::align_val_t{256});
}

}  // namespace

namespace fovea::emulation {

void set_device_memory(std::size_t bytes) {
  const std::lock_guard lock(memory().mutex);
  memory().limit = bytes;
  memory().kept = std::min(memory().kept, bytes - std::min(bytes, memory().used));
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

std::vector<Allocation> allocations() {
  const std::lock_guard lock(memory().mutex);
  std::vector<Allocation> all;
  for (const auto& [at, block] : memory().blocks)
    if (block.bytes > 0) all.push_back({at, block.bytes});
  return all;
}

void release_kept_memory() {
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
  m.kept = std::min(m.kept, m.threshold - std::min(m.threshold, m.used));
}

void set_lockable_memory(std::size_t bytes) {
  lockable_memory = bytes;
}

bool on_device(const void* at, std::size_t bytes) {
  const auto* const begin = static_cast<const unsigned char*>(at);
  const std::lock_guard lock(memory().mutex);
  auto after = memory().blocks.upper_bound(const_cast<unsigned char*>(begin));
  if (after == memory().blocks.begin()) return false;
  --after;
  return begin + bytes <= after->first + after->second.bytes;
}

}  // namespace fovea::emulation

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  {
    const std::lock_guard lock(memory().mutex);
    *total = memory().limit;
    *free = memory().limit - std::min(memory().limit, memory().used + memory().kept);
  }
  return failure();
}

cudaError_t cudaMalloc(void** at, std::size_t bytes) {
  if (failure() != cudaSuccess) return failure();
  Memory& m = memory();
  const std::lock_guard lock(m.mutex);
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
  m.blocks[block + guard] = {bytes};
  m.kept -= std::min(m.kept, bytes);
  m.used += bytes;
  m.peak = std::max(m.peak, m.used);
  return cudaSuccess;
}

cudaError_t cudaFree(void* at) {
  if (!at) return cudaSuccess;
  cudaDeviceSynchronize();
  give_back(at);
  release(at);
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** at, std::size_t bytes) {
  if (failure() != cudaSuccess) return failure();
  if (bytes > lockable_memory) return cudaErrorMemoryAllocation;
  lockable_memory -= bytes;
  *at = ::operator new (bytes, std::align_val_t{64});
  return cudaSuccess;
}
cudaError_t cudaFreeHost(void* at) {
  ::operator delete (at, std::align_val_t{64});
  return cudaSuccess;
}

cudaError_t cudaMallocAsync(void** at, std::size_t bytes, cudaStream_t) {
  return cudaMalloc(at, bytes);
}

cudaError_t cudaFreeAsync(void* at, cudaStream_t stream) {
  if (!at) return cudaSuccess;
  give_back(at);
  enqueue(stream, [at] { release(at); });
  return cudaSuccess;
}

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t*, int) {
  return failure();
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t, cudaMemPoolAttr, void* value) {
  const std::lock_guard lock(memory().mutex);
  memory().threshold = *static_cast<std::uint64_t*>(value);
  return failure();
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t, cudaMemPoolAttr what, void* value) {
  const std::lock_guard lock(memory().mutex);
  *static_cast<std::uint64_t*>(value) =
      memory().used + (what == cudaMemPoolAttrReservedMemCurrent ? memory().kept : 0);
  return failure();
}
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t bytes) {
  const std::lock_guard lock(memory().mutex);
  memory().kept = std::min(memory().kept, bytes - std::min(bytes, memory().used));
  return failure();
}
