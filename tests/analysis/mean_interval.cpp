// The mean over inputs and its interval, against tables of Student's distribution.
#include "analysis/mean_interval.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>

using namespace fovea;

TEST_CASE("t of Student's distribution is that of the tables") {
  struct Row {
    Index degrees;
    double t;
  };
  // Two-sided 95 %, Abramowitz and Stegun, table 26.10, and NIST's for 100.
  for (const Row& row :
       {Row{1, 12.706}, Row{2, 4.303}, Row{3, 3.182}, Row{4, 2.776}, Row{5, 2.571}, Row{9, 2.262},
        Row{10, 2.228}, Row{29, 2.045}, Row{30, 2.042}, Row{100, 1.984}})
    CHECK(std::abs(students_t(row.degrees) - row.t) < 5.1e-4);
  CHECK(std::abs(students_t(100000) - 1.95996) < 1e-4);
}

TEST_CASE("the interval of a mean is t s / √n to either side") {
  const std::array values{2.0, 4.0, 9.0};
  const MeanOverInputs all = mean_over_inputs(values);
  CHECK(all.inputs == 3);
  CHECK(all.mean == 5);
  // s² = (9 + 1 + 16) / 2
  REQUIRE(all.half);
  CHECK(*all.half == doctest::Approx(4.302653 * std::sqrt(13.0 / 3)));
  CHECK(all.low() == 5 - *all.half);
  CHECK(all.high() == 5 + *all.half);
  const MeanOverInputs equal = mean_over_inputs(std::array{1.5, 1.5});
  CHECK(equal.half == 0);
  CHECK_FALSE(mean_over_inputs(std::array{7.0}).half);
  CHECK(mean_over_inputs(std::array{7.0}).mean == 7);
  CHECK(std::isnan(mean_over_inputs({}).mean));
}
