#include "data/matrix.h"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <new>

#include "data/address_sanitizer.h"
#include "data/kept_blocks.h"
#include "data/memory.h"

namespace fovea {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;
constexpr std::size_t smallest_kept = std::size_t{1} << 18;  // 256 x 256 entries
constexpr std::size_t alignment = 64;

std::atomic<std::size_t> mapped_bytes = 0;

std::byte* map_pages(std::size_t bytes) {
  void* const mapped =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return mapped == MAP_FAILED ? nullptr : static_cast<std::byte*>(mapped);
}

/// Begins at the boundary of a huge page. `bytes`: whole pages.
std::byte* map_huge_pages(std::size_t bytes) {
  std::byte* const mapped = map_pages(bytes + huge_page);
  if (!mapped) return nullptr;
  const std::size_t before = -reinterpret_cast<std::uintptr_t>(mapped) % huge_page;
  std::byte* const block = mapped + before;
  if (before > 0) ::munmap(mapped, before);
  ::munmap(block + bytes, huge_page - before);
  ::madvise(block, bytes, MADV_HUGEPAGE);  // optional: a refusal does no harm
  return block;
}

/// Maps a block outside of the heaps of the C library. In a heap, small allocations would spread
/// over the pages of a freed block and keep all of them resident. Returns nullptr if the system
/// refuses.
void* map_block(std::size_t bytes) {
  // The sanitizer finds accesses beyond the end only in the heap.
  if constexpr (has_address_sanitizer)
    return ::operator new (bytes, std::align_val_t{alignment}, std::nothrow);
  static const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t used = (bytes + page - 1) / page * page;
  std::byte* const block = bytes < huge_page ? map_pages(used) : map_huge_pages(used);
  if (block) mapped_bytes += bytes;
  return block;
}

void unmap_block(void* block, std::size_t bytes) {
  if constexpr (has_address_sanitizer)
    return ::operator delete (block, std::align_val_t{alignment});
  ::munmap(block, bytes);
  mapped_bytes -= bytes;
}

/// Aligned here, not by the C library: up to glibc 2.37, aligned_alloc takes more than it needs and
/// frees the rest, so that a freed block is too small for the next of its size, and the heaps grow
/// as long as the program runs (https://sourceware.org/bugzilla/show_bug.cgi?id=14581).
void* allocate_in_heap(std::size_t bytes) {
  // The sanitizer finds accesses beyond the end if the block ends where what was allocated does.
  if constexpr (has_address_sanitizer) return ::operator new (bytes, std::align_val_t{alignment});
  auto* const allocated = static_cast<unsigned char*>(::operator new(bytes + alignment));
  const std::size_t before = alignment - reinterpret_cast<std::uintptr_t>(allocated) % alignment;
  unsigned char* const block = allocated + before;
  block[-1] = static_cast<unsigned char>(before);  // 1 to 64: there is a byte for it
  return block;
}

void free_in_heap(void* block) {
  if constexpr (has_address_sanitizer)
    return ::operator delete (block, std::align_val_t{alignment});
  if (!block) return;
  auto* const first = static_cast<unsigned char*>(block);
  ::operator delete(first - first[-1]);
}

/// Large blocks that were freed, kept for the next of the same size: the first access to a page
/// costs more than all the arithmetic on it.
class SpareBlocks {
 public:
  /// nullptr when there is none of that size.
  void* take(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    for (auto spare = spares_.rbegin(); spare != spares_.rend(); ++spare)
      if (spare->bytes == bytes) {
        void* block = spare->block;
        held_ -= bytes;
        spares_.erase(std::next(spare).base());
        return block;
      }
    return nullptr;
  }

  /// Frees the oldest when there are too many.
  void give(void* block, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    spares_.push_back({block, bytes});
    held_ += bytes;
    while (held_ > most_held) drop_oldest();
  }

  void drop_all() {
    const std::scoped_lock lock(mutex_);
    while (!spares_.empty()) drop_oldest();
  }

 private:
  struct Spare {
    void* block;
    std::size_t bytes;
  };
  // Enough for one apply at n = 131072, d = 64. None under the sanitizer, so that it finds a use
  // after free.
  static constexpr std::size_t most_held = has_address_sanitizer ? 0 : std::size_t{1} << 27;

  void drop_oldest() {
    unmap_block(spares_.front().block, spares_.front().bytes);
    held_ -= spares_.front().bytes;
    spares_.erase(spares_.begin());
  }

  std::mutex mutex_;
  std::vector<Spare> spares_;  // oldest first
  std::size_t held_ = 0;
};

// Never destroyed, because matrices of static lifetime are freed after it.
SpareBlocks& spare_blocks() {
  static SpareBlocks& spares = *new SpareBlocks;
  return spares;
}

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  if (bytes < smallest_kept) return allocate_in_heap(bytes);
  if (void* spare = spare_blocks().take(bytes)) return spare;
  require_memory(bytes, "one array");  // unless a caller checked more
  void* block = map_block(bytes);
  if (!block) {
    spare_blocks().drop_all();
    block = map_block(bytes);
  }
  if (!block) throw std::bad_alloc();
  return block;
}

void free_aligned(void* block, std::size_t bytes) {
  if (bytes < smallest_kept)
    free_in_heap(block);
  else
    spare_blocks().give(block, bytes);
}

void free_kept_blocks() {
  spare_blocks().drop_all();
}

std::size_t mapped_matrix_bytes() {
  return mapped_bytes;
}

}  // namespace fovea
