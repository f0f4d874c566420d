// The effective rank: of known singular values, and its estimate.
#include "analysis/effective_rank.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "backend/profile.h"
#include "weights.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE(
    "the effective rank is that of known singular values, and does not depend on their size") {
  CHECK(effective_rank(std::vector<double>{2, 2, 2, 0}) == doctest::Approx(3));
  CHECK(effective_rank(std::vector<double>{5}) == doctest::Approx(1));
  CHECK(effective_rank(std::vector<double>{0, 0}) == 0);
  const std::vector<double> values{3, 1}, scaled{3e-9, 1e-9};
  const double entropy = -0.75 * std::log(0.75) - 0.25 * std::log(0.25);
  CHECK(effective_rank(values) == doctest::Approx(std::exp(entropy)));
  CHECK(effective_rank(scaled) == doctest::Approx(std::exp(entropy)));
}

TEST_CASE("the estimate of the effective rank is within its error of the exact one") {
  constexpr Index n = 300;
  constexpr int heads = 20;
  Profile profile;
  Run run{profile};
  double squares = 0;
  for (const bool causal : {false, true})
    for (std::uint64_t seed = 0; seed < heads / 2; ++seed) {
      CAPTURE(causal);
      CAPTURE(seed);
      const Matrix p = random_weights(n, causal, seed);
      const double exactly = effective_rank({n, n}, reads(p), run).value;
      const Estimate estimate = effective_rank({n, n}, reads(p), run, seed, 0);
      CHECK(estimate.standard_error > 0);
      CHECK(estimate.standard_error < 0.2 * exactly);
      // Eight draws: Student's t with seven degrees of freedom is beyond 4.8 once in 500.
      CHECK(std::abs(estimate.value - exactly) < 4.8 * estimate.standard_error);
      squares += std::pow((estimate.value - exactly) / estimate.standard_error, 2) / heads;
    }
  // Twenty heads are below half about once in 3000, if errors are as large as they are said.
  MESSAGE("error over standard error, root of the mean square: ", std::sqrt(squares));
  CHECK(std::sqrt(squares) > 0.5);
  // Two steps exhaust 5 equal values.
  Matrix blocks(n, n);
  for (Index i = 0; i < n; ++i)
    for (Index j = i / 60 * 60; j < (i / 60 + 1) * 60; ++j) blocks(i, j) = 1.0f / 60;
  const Estimate five = effective_rank({n, n}, reads(blocks), run, 0, 0);
  CHECK(std::abs(five.value - 5) < 4.8 * five.standard_error);
}

TEST_CASE("the estimate of the effective rank knows what it has not resolved") {
  // Sharp rows under a causal mask have many small singular values of all sizes.
  constexpr Index n = 500;
  constexpr int heads = 10;
  Profile profile;
  Run run{profile};
  double squares = 0;
  for (std::uint64_t seed = 0; seed < heads; ++seed) {
    const Matrix p = random_weights(n, true, seed, 5);
    const Estimate estimate = effective_rank({n, n}, reads(p), run, seed, 0);
    const double off = estimate.value - effective_rank({n, n}, reads(p), run).value;
    squares += std::pow(off / estimate.standard_error, 2) / heads;
  }
  // With the spread of the draws alone it is 4 or more.
  CHECK(std::sqrt(squares) < 2);
}
