// Heavy entries of Q K^T: at most tau of a column, those of the head's pairs.
#include "analysis/heavy_entries.h"

#include <doctest/doctest.h>

#include "data/error.h"
#include "harness.h"
#include "laws/conditions.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("heavy entries of the golden example, counted by hand") {
  // For key 0, (-1, -.5), q_i . k_0 is 1.5, -.5, 0, -.25, .25, .75, -1.25, 1, and the sum of
  // squares is 5.75.
  Profile profile;
  const auto of_key_0 = [&](double tau) {
    const BitMatrix mask = heavy_entries(golden_problem(), tau, {profile});
    std::vector<Index> queries;
    for (Index i = 0; i < 8; ++i)
      if (mask(i, 0)) queries.push_back(i);
    return queries;
  };
  CHECK(of_key_0(2) == std::vector<Index>{});
  CHECK(of_key_0(3) == std::vector<Index>{0});
  CHECK(of_key_0(4) == std::vector<Index>{0, 6});
  CHECK(of_key_0(8) == std::vector<Index>{0, 6, 7});
}

TEST_CASE("heavy entries are at most tau of a column, whatever the scale, and pairs of the head") {
  Profile profile;
  const Run run{profile};
  for (const Data data : {Data::gaussian, Data::huge, Data::spike})
    for (const Index tau : {1, 3, 10}) {
      Problem problem = make_data(data, 60, 5, 2, false);
      const BitMatrix mask = heavy_entries(problem, double(tau), run);
      problem.scale *= 100;
      const BitMatrix scaled = heavy_entries(problem, double(tau), run);
      problem.causal = true;
      const BitMatrix causal = heavy_entries(problem, double(tau), run);
      for (Index j = 0; j < 60; ++j) {
        Index count = 0;
        for (Index i = 0; i < 60; ++i) {
          count += mask(i, j);
          CHECK(scaled(i, j) == mask(i, j));
          CHECK(causal(i, j) == (mask(i, j) && j <= i));
        }
        CHECK(count <= tau);
      }
    }
}

TEST_CASE("a key of zeros has no heavy entry, and the search can be cancelled") {
  const Problem problem = make_problem(Matrix(4, 2, 1.0f), Matrix(4, 2), Matrix(4, 1));
  Profile profile;
  const BitMatrix mask = heavy_entries(problem, 2, {profile});
  for (Index i = 0; i < 4; ++i) CHECK(count_bits(mask.row(i), {0, 4}) == 0);
  std::stop_source stop;
  stop.request_stop();
  CHECK_THROWS_AS(heavy_entries(problem, 2, {profile, stop.get_token()}), Cancelled);
}
