// The machine's pace, by which times of a slowed machine are known.
#include "evaluate/pace.h"

#include <doctest/doctest.h>

#include <chrono>

#include "backend/backends.h"
#include "harness.h"

using namespace fovea;

TEST_CASE("the pace of a short head is not that of a moment") {
  const auto backend = make_cpu_backend({.threads = 1});
  const Problem problem = test::make_data(test::Data::gaussian, 16, 4, 4, false);
  Profile profile;
  Run run{profile};
  const auto begin = std::chrono::steady_clock::now();
  const double pace = pace_ms(problem, *backend, run);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
  // The runs alone take 5 ms; three of them would take some microseconds.
  CHECK(took.count() >= 5);
  CHECK(pace > 0);
  CHECK(pace <= took.count());  // the best of several
}
