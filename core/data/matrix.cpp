#include "data/matrix.h"

#include <sys/mman.h>

#include <mutex>

#include "data/kept_blocks.h"
#include "data/memory.h"

namespace fovea {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;

std::size_t alignment_of(std::size_t bytes) {
  return bytes >= huge_page ? huge_page : 64;
}

void release(void* block, std::size_t bytes) {
  ::operator delete (block, std::align_val_t{alignment_of(bytes)});
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
#ifdef __SANITIZE_ADDRESS__
  static constexpr std::size_t most_held = 0;  // so that a use after free is found
#else
  static constexpr std::size_t most_held = std::size_t{1} << 27;  // one apply at n = 131072, d = 64
#endif

  void drop_oldest() {
    release(spares_.front().block, spares_.front().bytes);
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
  const std::align_val_t alignment{alignment_of(bytes)};
  if (bytes < huge_page) return ::operator new(bytes, alignment);
  if (void* spare = spare_blocks().take(bytes)) return spare;
  require_memory(static_cast<double>(bytes), "one array");  // where nobody has asked for more
  void* block = ::operator new(bytes, alignment, std::nothrow);
  if (!block) {
    spare_blocks().drop_all();
    block = ::operator new(bytes, alignment);
  }
  madvise(block, bytes, MADV_HUGEPAGE);  // optional: a refusal does no harm
  return block;
}

void free_aligned(void* block, std::size_t bytes) {
  if (bytes < huge_page)
    release(block, bytes);
  else
    spare_blocks().give(block, bytes);
}

void free_kept_blocks() {
  spare_blocks().drop_all();
}

}  // namespace fovea
