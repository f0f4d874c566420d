// Medians and quantiles of repeated runs.
#include "analysis/timing.h"

#include <doctest/doctest.h>

using namespace fovea;

TEST_CASE("timing: median, p10 and p90 by stage and of the total") {
  std::vector<Profile> profiles(11);
  for (int i = 0; i <= 10; ++i) {
    profiles[static_cast<std::size_t>(i)].add("attend", 10 - i);
    profiles[static_cast<std::size_t>(i)].add("divide", 1);
    profiles[static_cast<std::size_t>(i)].add("attend", 100);  // the same stage adds up
  }
  const auto stages = summarise(profiles);
  REQUIRE(stages.size() == 2);
  CHECK(stages[0].name == "attend");
  CHECK(stages[0].median_ms == doctest::Approx(105));
  CHECK(stages[0].p10_ms == doctest::Approx(101));
  CHECK(stages[0].p90_ms == doctest::Approx(109));
  CHECK(stages[0].samples == 11);
  CHECK(summarise_total(profiles).median_ms == doctest::Approx(106));
  CHECK(summarise_total({}).samples == 0);
}

TEST_CASE("timing: a stage that only some runs have counts its own samples") {
  std::vector<Profile> profiles(2);
  profiles[0].add("hash", 3);
  const auto stages = summarise(profiles);
  REQUIRE(stages.size() == 1);
  CHECK(stages[0].samples == 1);
}
