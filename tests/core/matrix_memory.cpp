// Where matrices lie: large ones apart from the heap, from where their memory goes back to the
// system, the others in the heap, which must not grow by them.
#include <doctest/doctest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <fstream>
#include <set>
#include <string>
#include <vector>

#include "data/address_sanitizer.h"
#include "data/kept_blocks.h"
#include "data/matrix.h"

using namespace fovea;

namespace {

bool is_mapped(const void* address) {
  const auto page = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(address) / page * page;
  unsigned char resident = 0;
  return ::mincore(reinterpret_cast<void*>(begin), page, &resident) == 0 || errno != ENOMEM;
}

long mapped_pages() {
  long pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages;
}

}  // namespace

// The address sanitizer has them in the heap.
TEST_CASE(
    "large matrices begin with a huge page apart from the heap, and are returned to the system" *
    doctest::skip(has_address_sanitizer)) {
  free_kept_blocks();
  const long before = mapped_pages();
  const std::size_t others = mapped_matrix_bytes();
  // From 2 MiB on; two are no multiples of a page. Left to itself the C library takes the second
  // block of a size from its heap, and small ones, allocated later, keep that from shrinking.
  for (const Index rows : {4096, 4096, 4097, 4097, 5001, 5001, 8192, 8192}) {
    CAPTURE(rows);
    Matrix matrix(rows, 129);
    const float* const first = matrix.data();
    const float* const last = &matrix(rows - 1, 128);
    CHECK(reinterpret_cast<std::uintptr_t>(first) % (std::uintptr_t{1} << 21) == 0);
    CHECK(*last == 0);
    CHECK(mapped_matrix_bytes() - others == std::size_t(rows) * 129 * sizeof(float));
    matrix = {};
    CHECK(is_mapped(first));  // kept for the next of its size
    free_kept_blocks();
    CHECK_FALSE(is_mapped(first));
    CHECK_FALSE(is_mapped(last));
    CHECK(mapped_matrix_bytes() == others);
  }
  CHECK(mapped_pages() - before <= 64);  // of the heap; a margin that stays would be 512 a matrix
}

// Each step of a live head makes maps of some 512 x 512 entries: writing to new pages took a third
// of the time of its pictures.
TEST_CASE("matrices of 256 KiB and more are kept apart from the heap, too" *
          doctest::skip(has_address_sanitizer)) {
  free_kept_blocks();
  const std::size_t others = mapped_matrix_bytes();
  for (const Index rows : {256, 512, 1000, 2047}) {
    CAPTURE(rows);
    const std::size_t bytes = std::size_t(rows) * 256 * sizeof(float);
    Matrix matrix(rows, 256, 1.0f);
    const float* const first = matrix.data();
    CHECK(mapped_matrix_bytes() - others == bytes);
    matrix = {};
    CHECK(mapped_matrix_bytes() - others == bytes);
    matrix = Matrix(rows, 256);
    CHECK(matrix.data() == first);
    CHECK(matrix(rows - 1, 255) == 0);
    matrix = {};
    free_kept_blocks();
    CHECK_FALSE(is_mapped(first));
    CHECK(mapped_matrix_bytes() == others);
  }
  const Matrix small(255, 256);
  CHECK(mapped_matrix_bytes() == others);
}

// What aligned_alloc of glibc 2.36 frees does not fit the next block of its size: the heap grows by
// one in each round.
TEST_CASE("memory of the heap that one matrix used serves the next of its size" *
          doctest::skip(has_address_sanitizer)) {
  for (const Index rows : {1, 16, 100, 1000, 4000}) {
    CAPTURE(rows);
    std::set<const float*> places;
    std::vector<std::string> others;  // allocated in between, and kept
    others.reserve(200);
    for (int round = 0; round < 200; ++round) {
      const Matrix matrix(rows, 129);
      CHECK(reinterpret_cast<std::uintptr_t>(matrix.data()) % 64 == 0);
      others.emplace_back(std::size_t(40 + round), 'x');
      places.insert(matrix.data());
    }
    CHECK(places.size() <= 10);
  }
}
