// Estimates of heads against attention by hand, in float64.
#include "effect/head_estimates.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "backend/backends.h"
#include "input/open_source.h"
#include "tiny_text_model.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Rows = std::vector<std::vector<double>>;

/// Attention over the keys that are at most `reach` tokens away.
Rows attended(const Problem& head, Index reach) {
  Rows z(std::size_t(head.queries()), std::vector<double>(std::size_t(head.dv())));
  for (Index i = 0; i < head.queries(); ++i) {
    double sum = 0;
    for (Index j = 0; j < head.keys(); ++j) {
      if (std::abs(i - j) > reach) continue;
      double logit = 0;
      for (Index c = 0; c < head.d(); ++c) logit += double{head.q(i, c)} * double{head.k(j, c)};
      const double weight = std::exp(head.scale * logit);
      sum += weight;
      for (Index c = 0; c < head.dv(); ++c) z[i][c] += weight * double{head.v(j, c)};
    }
    for (double& value : z[i]) value /= sum;
  }
  return z;
}

double squared(const Rows& a, const Rows& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    for (std::size_t c = 0; c < a[i].size(); ++c) sum += (a[i][c] - b[i][c]) * (a[i][c] - b[i][c]);
  return sum;
}

}  // namespace

TEST_CASE("an estimate is the share of a layer's output that a head changes") {
  const TinyTextModel model;
  const auto source =
      std::make_shared<const Source>(open_source(model.address("the cat sat . a b c d")));
  const ReplacedPart part{.variant = &find_variant("window"), .settings = {{"width", "1"}}};
  HeadEstimates estimates(source, part, ChosenHeads("0.1,1", 2, 2));
  const auto backend = make_cpu_backend();
  Profile profile;
  Run run{profile};
  CHECK_FALSE(estimates.of(1, 0));
  estimates.step(*backend, run);
  CHECK(estimates.of(1, 0));  // the last layer comes first
  CHECK_FALSE(estimates.of(0, 1));
  while (!estimates.complete()) estimates.step(*backend, run);
  CHECK_FALSE(estimates.of(0, 0));  // not chosen
  for (Index layer = 0; layer < 2; ++layer) {
    double whole = 0;
    for (Index head = 0; head < 2; ++head) {
      const Problem problem = problem_of(*source, {.layer = layer, .head = head}, {});
      const Rows z = attended(problem, problem.keys());
      whole += squared(z, Rows(z.size(), std::vector<double>(z[0].size())));
    }
    for (Index head = 0; head < 2; ++head) {
      const auto found = estimates.of(layer, head);
      if (!found) continue;
      const Problem problem = problem_of(*source, {.layer = layer, .head = head}, {});
      const double change = squared(attended(problem, 1), attended(problem, problem.keys()));
      // float32 sums of a dozen products, against float64
      CHECK(*found == doctest::Approx(std::sqrt(change / whole)).epsilon(1e-5));
      CHECK(*found > 0);
    }
  }
}
