// Large matrices are counted and refused like other allocations (allocations.h).
#include <doctest/doctest.h>

#include <new>

#include "allocations.h"
#include "data/address_sanitizer.h"
#include "data/kept_blocks.h"
#include "data/matrix.h"

using namespace fovea;
using namespace fovea::test;

// The address sanitizer has them in the heap.
TEST_CASE("memory: large matrices are counted, and end with an error where they are refused" *
          doctest::skip(has_address_sanitizer)) {
  for (const std::size_t bytes :
       {std::size_t{1} << 18, std::size_t{1} << 20, std::size_t{4} << 20}) {
    CAPTURE(bytes);
    const auto rows = static_cast<Index>(bytes / sizeof(float) / 128);
    free_kept_blocks();
    largest_allocation();
    begin_peak();
    for (int i = 0; i < 3; ++i) {  // one at a time: each is given back before the next
      { const Matrix matrix(rows, 128); }
      free_kept_blocks();
    }
    CHECK(largest_allocation() == bytes);
    CHECK(peak_bytes() >= bytes);
    CHECK(peak_bytes() < 2 * bytes);

    const RefusedAllocation refused(1, bytes);
    CHECK_THROWS_AS(Matrix(rows, 128), std::bad_alloc);
    CHECK(refused.reached());
    CHECK(Matrix(rows, 128)(rows - 1, 127) == 0);  // only that one
  }
}
