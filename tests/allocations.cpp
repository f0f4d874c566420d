#include "allocations.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <new>
#include <utility>

namespace {

std::atomic<std::size_t> largest = 0;
std::atomic<std::size_t> least_refused = 0;
std::atomic<std::ptrdiff_t> until_refused = 0;  // 0 and less: none is
std::atomic<std::ptrdiff_t> living = 0, peak = 0, at_begin = 0;

template <class T>
void raise(std::atomic<T>& most, T value) {
  T known = most;
  while (value > known && !most.compare_exchange_weak(known, value)) continue;
}

void* count(void* memory, std::size_t size) {
  if (!memory) throw std::bad_alloc();
  raise(largest, size);
  const auto bytes = static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  raise(peak, living.fetch_add(bytes) + bytes);
  return memory;
}

void release(void* memory) {
  if (memory) living -= static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  std::free(memory);
}

bool is_refused(std::size_t size) {
  return until_refused > 0 && size >= least_refused && --until_refused == 0;
}

/// A large matrix, for which allocate_aligned asks twice: both are refused.
bool is_matrix_refused(std::size_t size) {
  thread_local bool again = false;
  if (std::exchange(again, false)) return true;  // the second time
  again = is_refused(size);
  return again;
}

}  // namespace

fovea::test::RefusedAllocation::RefusedAllocation(std::size_t number, std::size_t least) {
  least_refused = least;
  until_refused = static_cast<std::ptrdiff_t>(number);
}
fovea::test::RefusedAllocation::~RefusedAllocation() {
  until_refused = 0;
}
bool fovea::test::RefusedAllocation::reached() const {
  return until_refused <= 0;
}

std::size_t fovea::test::largest_allocation() {
  return largest.exchange(0);
}

void fovea::test::begin_peak() {
  at_begin = living.load();
  peak = living.load();
}

std::size_t fovea::test::peak_bytes() {
  return static_cast<std::size_t>(peak - at_begin);
}

// Matrices of 256 KiB and more (data/matrix.cpp) are mapped; those of 2 MiB and more map 2 MiB more
// than they use and unmap it at once. The linker option --wrap sends these calls here; nothing else
// in these programs maps memory by itself.
extern "C" {

void* __real_mmap(void* at, std::size_t size, int access, int flags, int file, off_t offset);
int __real_munmap(void* memory, std::size_t size);

void* __wrap_mmap(void* at, std::size_t size, int access, int flags, int file, off_t offset) {
  constexpr std::size_t huge_page = std::size_t{1} << 21;
  const bool of_matrix = (flags & MAP_ANONYMOUS) != 0;
  const std::size_t used = size > huge_page ? size - huge_page : size;
  if (of_matrix && is_matrix_refused(used)) return MAP_FAILED;
  void* memory = __real_mmap(at, size, access, flags, file, offset);
  if (of_matrix && memory != MAP_FAILED) {
    raise(largest, used);
    raise(peak, living.fetch_add(std::ptrdiff_t(size)) + std::ptrdiff_t(used));
  }
  return memory;
}

int __wrap_munmap(void* memory, std::size_t size) {
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  living -= std::ptrdiff_t((size + page - 1) / page * page);
  return __real_munmap(memory, size);
}

}  // extern "C"

// The other forms of new come down to these; those of a sanitizer without exceptions do not.
void* operator new(std::size_t size) {
  return count(is_refused(size) ? nullptr : std::malloc(size > 0 ? size : 1), size);
}

void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return count(
      is_refused(size) ? nullptr : std::aligned_alloc(step, (size + step - 1) / step * step), size);
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  try {
    return operator new(size, alignment);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* memory) noexcept {
  release(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  release(memory);
}

void operator delete(void* memory, std::align_val_t) noexcept {
  release(memory);
}

void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  release(memory);
}
