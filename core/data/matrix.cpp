#include "data/matrix.h"

#include <sys/mman.h>

namespace fovea {
namespace {

constexpr std::size_t huge_page = std::size_t{1} << 21;

std::size_t alignment_of(std::size_t bytes) { return bytes >= huge_page ? huge_page : 64; }

}  // namespace

void* allocate_aligned(std::size_t bytes) {
  void* block = ::operator new(bytes, std::align_val_t{alignment_of(bytes)});
  if (bytes >= huge_page) madvise(block, bytes, MADV_HUGEPAGE);  // a wish: refusal does no harm
  return block;
}

void free_aligned(void* block, std::size_t bytes) {
  ::operator delete(block, std::align_val_t{alignment_of(bytes)});
}

}  // namespace fovea
