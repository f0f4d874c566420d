#include "allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> largest = 0;

}  // namespace

std::size_t fovea::test::largest_allocation() {
  return largest.exchange(0);
}

// The other forms of new come down to this one; that of a sanitizer without exceptions does not.
void* operator new(std::size_t size) {
  std::size_t known = largest;
  while (size > known && !largest.compare_exchange_weak(known, size)) continue;
  if (void* memory = std::malloc(size > 0 ? size : 1)) return memory;
  throw std::bad_alloc();
}

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  try {
    return operator new(size);
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
