// Standard errors of the attention between groups, by hand from the queries that a sample has.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/span_mass.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// The mean of `masses` without number `left_out`, and the standard error of a sample without
/// replacement, s^2 / n (1 - n / N) with s^2 = sum (x - mean)^2 / (n - 1).
Estimate without(const std::vector<double>& masses, std::size_t left_out) {
  const auto whole = static_cast<double>(masses.size()), count = whole - 1;
  double mean = 0, squares = 0;
  for (std::size_t i = 0; i < masses.size(); ++i)
    if (i != left_out) mean += masses[i] / count;
  for (std::size_t i = 0; i < masses.size(); ++i)
    if (i != left_out) squares += (masses[i] - mean) * (masses[i] - mean);
  return {mean, std::sqrt(squares / (count - 1) / count * (1 - count / whole))};
}

}  // namespace

// A sample has 16 queries of each group at the least, here of 17: one is left out, and the mean
// says which one.
TEST_CASE("the standard error of span mass is that of the queries used, without replacement") {
  constexpr Index n = 34, half = 17;
  const Problem problem = make_data(Data::gaussian, n, 8, 1, false);
  const Instance exact = make_instance(*backends().front(), problem, "exact", {}),
                 other = make_instance(*backends().front(), problem, "strided", {{"stride", "5"}});
  const Grouping groups = grouping_of_spans(n, {{"front", {0, half}}, {"back", {half, n}}});
  Profile profile;
  Run run{profile};
  const SpanMass mass = span_mass(*other.bound, *exact.bound, groups, groups, run, 1);
  REQUIRE(mass.rows == std::vector<Index>{16, 16});
  for (const bool approximate : {false, true}) {
    const Matrix p = approximate ? other.all() : exact.all();
    for (Index a = 0; a < 2; ++a)
      for (Index b = 0; b < 2; ++b) {
        CAPTURE(approximate);
        CAPTURE(a);
        CAPTURE(b);
        std::vector<double> masses;
        for (Index i = a * half; i < (a + 1) * half; ++i) {
          double sum = 0;
          for (Index j = b * half; j < (b + 1) * half; ++j) sum += static_cast<double>(p(i, j));
          masses.push_back(sum);
        }
        const Estimate found = approximate ? mass(a, b).approximate : mass(a, b).exact;
        Estimate expected;
        double nearest = HUGE_VAL;
        for (std::size_t i = 0; i < masses.size(); ++i) {
          const Estimate one = without(masses, i);
          if (std::abs(one.value - found.value) >= nearest) continue;
          nearest = std::abs(one.value - found.value);
          expected = one;
        }
        CHECK(nearest < 1e-9);  // both are sums of the same floats in double
        CHECK(found.standard_error == doctest::Approx(expected.standard_error).epsilon(1e-6));
        CHECK(found.standard_error > 0);
      }
  }
}
