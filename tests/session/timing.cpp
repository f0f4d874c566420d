// Medians and quantiles of repeated runs.
#include "analysis/timing.h"

#include <doctest/doctest.h>

using namespace fovea;

TEST_CASE("times of runs: median, p10 and p90 by stage and of the total") {
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
}

TEST_CASE("times of runs: the total is of plan, upload and apply, and learning is in no total") {
  std::vector<TimedRun> runs(enough_samples);
  for (int i = 0; i < enough_samples; ++i) {
    TimedRun& run = runs[static_cast<std::size_t>(i)];
    run.learning.add("build tree", 1000 + i);
    run.plan.add("hash", 10 - i);
    run.upload.add("pack", 1);
    run.apply.add("attend", 100 + i);
    run.apply.add("divide", 1);
    CHECK(run.total_ms() == doctest::Approx(112));
  }
  const Timing timing = summarise(runs);
  CHECK(timing.learning.median_ms == doctest::Approx(1002.5));
  CHECK(timing.plan_total.median_ms == doctest::Approx(7.5));
  CHECK(timing.upload_total.median_ms == doctest::Approx(1));
  CHECK(timing.apply_total.median_ms == doctest::Approx(103.5));
  CHECK(timing.apply.size() == 2);
  // The quantile of the sums of each run, not the sum of the quantiles.
  CHECK(timing.total.p90_ms == doctest::Approx(112));
  CHECK_FALSE(timing.few_samples());
  runs.pop_back();
  CHECK(summarise(runs).few_samples());
  CHECK(summarise(std::vector<TimedRun>{}).total.samples == 0);
  CHECK(summarise(std::vector<TimedRun>(2)).learning.samples == 0);
}

TEST_CASE("times of runs: a stage that only some runs have counts its own samples") {
  std::vector<Profile> profiles(2);
  profiles[0].add("hash", 3);
  const auto stages = summarise(profiles);
  REQUIRE(stages.size() == 1);
  CHECK(stages[0].samples == 1);
}
