#include "drawing/largest.h"

#include <doctest/doctest.h>

#include <vector>

using namespace fovea;
using namespace fovea::drawing;

TEST_CASE("the largest of a range is found beside NaN, beyond the ends, and up to a limit") {
  constexpr float infinity = std::numeric_limits<float>::infinity(),
                  nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> values{1, 3, nan, infinity, -2, nan};
  CHECK(largest_in(values, {0, 2}) == 3.0f);
  CHECK(largest_in(values, {0, 3}) == 3.0f);  // NaN is the last
  CHECK(largest_in(values, {2, 3}) == std::nullopt);
  CHECK(largest_in(values, {0, 6}) == infinity);
  CHECK(largest_in(values, {-5, 99}, std::numeric_limits<float>::max()) == 3.0f);
  CHECK(largest_in(values, {4, 4}) == std::nullopt);
  CHECK(largest_in(std::vector<Index>{4, 9, 2}, {1, 3}) == 9);
}
