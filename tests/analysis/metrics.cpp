// Metrics against the same figures of dense matrices in double.
#include "analysis/metrics.h"

#include <doctest/doctest.h>

#include <cmath>

#include "cases.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Compared {
  Instance approximate, exact;
  Metrics metrics;
};

Compared compared(Instance approximate, double max_entries = 6.7e7) {
  const Problem problem = approximate.problem;
  Instance exact = make_instance(*backends().front(), problem, "exact", {});
  Profile profile;
  Run run{profile};
  Metrics m = compare(*approximate.bound, approximate.apply(problem.v), *exact.bound,
                      exact.apply(problem.v), run, max_entries);
  return {std::move(approximate), std::move(exact), std::move(m)};
}

// float32 sums of up to 40 terms of size 1: a few units of 2^-24 each.
doctest::Approx close(double x) {
  return doctest::Approx(x).epsilon(2e-5).scale(1e-2);
}

}  // namespace

TEST_CASE("metrics are those of the dense matrices") {
  for_small_instances([](Instance x) {
    INFO(x.variant->id << " n=" << x.plan->n << " causal=" << x.plan->causal);
    const Compared c = compared(std::move(x));
    const Index n = c.exact.plan->n;
    const auto p = reference<double>(c.exact), q = reference<double>(c.approximate);
    const auto z = times(p, c.exact.problem.v), y = times(q, c.exact.problem.v);
    double error = 0, norm = 0, kl = 0, kl_rows = 0, mass = 0, nonzero = 0, z_error = 0, z_norm = 0;
    for (Index i = 0; i < n; ++i) {
      double row_kl = 0;
      bool defined = true;
      for (Index j = 0; j < n; ++j) {
        error += (q(i, j) - p(i, j)) * (q(i, j) - p(i, j));
        norm += p(i, j) * p(i, j);
        if (q(i, j) > 0) mass += p(i, j), nonzero += 1;
        if (p(i, j) > 0 && q(i, j) > 0) row_kl += p(i, j) * std::log(p(i, j) / q(i, j));
        if (p(i, j) > 0 && !(q(i, j) > 0)) defined = false;
      }
      if (defined) kl += row_kl, kl_rows += 1;
    }
    for (std::size_t e = 0; e < z.size(); ++e) {
      z_error += (y[e] - z[e]) * (y[e] - z[e]);
      z_norm += z[e] * z[e];
    }
    const Metrics& m = c.metrics;
    CHECK(m.attention_rel_fro.value == close(std::sqrt(error / norm)));
    CHECK(m.output_rel_fro == close(std::sqrt(z_error / z_norm)));
    CHECK(m.mass_kept.value == close(mass / static_cast<double>(n)));
    CHECK(m.density == close(nonzero / static_cast<double>(n * n)));
    REQUIRE(m.attention_kl.has_value() == (kl_rows > 0));
    if (kl_rows > 0) CHECK(m.attention_kl->value == close(kl / kl_rows));
    CHECK(m.sampled_rows == 0);
    CHECK(m.attention_rel_fro.standard_error == 0);
    CHECK(m.mass_kept.standard_error == 0);
    CHECK(static_cast<Index>(m.token_error.size()) == n);
  });
}

TEST_CASE("a sample of rows agrees with all rows within its standard error") {
  const Problem problem = make_data(Data::gaussian, 400, 8, 4, false);
  const Settings settings{{"block", "32"}, {"samples", "32"}, {"min_length", "0"}};
  const auto make = [&] { return make_instance(*backends().front(), problem, "hyper", settings); };
  const Metrics all = compared(make()).metrics, some = compared(make(), 400.0 * 80).metrics;
  CHECK(all.sampled_rows == 0);
  CHECK(some.sampled_rows == 80);
  Index known = 0;
  for (std::size_t i = 0; i < 400; ++i)
    if (!std::isnan(some.dropped_mass[i])) {
      ++known;
      CHECK(some.dropped_mass[i] == all.dropped_mass[i]);
    }
  CHECK(known == 80);
  CHECK(some.mass_kept.standard_error > 0);
  CHECK(some.attention_rel_fro.standard_error > 0);
  // Four standard errors: one fixed seed in 16000 would fail.
  CHECK(std::abs(some.mass_kept.value - all.mass_kept.value) < 4 * some.mass_kept.standard_error);
  CHECK(std::abs(some.attention_rel_fro.value - all.attention_rel_fro.value) <
        4 * some.attention_rel_fro.standard_error);
}
