// When a ratio of times is said to say little.
#include <doctest/doctest.h>

#include "analysis/timing.h"

using namespace fovea;

TEST_CASE("a ratio of times says little where p90 of one of them is 1.5 times p10 or more") {
  const StageSummary steady{.median_ms = 10, .p10_ms = 9, .p90_ms = 12, .samples = 9},
      other{.median_ms = 10, .p10_ms = 8, .p90_ms = 29.6, .samples = 9}, none{.samples = 0};
  CHECK_FALSE(steady.unsteady());
  CHECK(other.unsteady());
  CHECK_FALSE(none.unsteady());
  CHECK(unsteady_note(steady, steady).empty());
  CHECK(unsteady_note(steady, other)
            .starts_with(
                "the speed-up says little: p90 / p10 of the rounds is 3.7, and of exact's 1.3"));
  CHECK(unsteady_note(other, steady)
            .starts_with(
                "the speed-up says little: p90 / p10 of the rounds is 1.3, and of exact's 3.7"));
}
