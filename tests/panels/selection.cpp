// The statistics of a selected rectangle, of which some rows are read where it is large.
#include <doctest/doctest.h>

#include <cmath>

#include "panels/readings.h"
#include "scene.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("a selection of which some rows are read has standard errors, others none") {
  const Index n = 2900;
  const Scene scene(make_data(Data::gaussian, n, 3, 2, false), "window", {{"width", "40"}});
  Profile profile;
  Run run{profile};
  // 8.4 million entries, of which every second row is read.
  const auto some = read_selection(scene.computation, scene.exact, {0, n}, {0, n}, run);
  CHECK(some.sampled());
  CHECK(some.rows_read == n / 2);
  CHECK(some.rms_error.standard_error > 0);
  CHECK(some.exact_mass.value == doctest::Approx(1).epsilon(1e-5));
  // Half of the rows and all of them: 4 million entries each.
  const auto first = read_selection(scene.computation, scene.exact, {0, n / 2}, {0, n}, run),
             second = read_selection(scene.computation, scene.exact, {n / 2, n}, {0, n}, run);
  CHECK_FALSE(first.sampled());
  CHECK(first.rms_error.standard_error == 0);
  const double truth =
      std::sqrt((std::pow(first.rms_error.value, 2) + std::pow(second.rms_error.value, 2)) / 2);
  // Five standard errors: one of a million such samples is further away.
  CHECK(std::abs(some.rms_error.value - truth) < 5 * some.rms_error.standard_error);
}
