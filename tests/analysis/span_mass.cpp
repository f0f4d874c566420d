// The attention between groups of tokens, against sums over dense matrices.
#include "analysis/span_mass.h"

#include <doctest/doctest.h>

#include <cmath>

#include "allocations.h"
#include "cases.h"
#include "messages.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Groups of interleaved tokens, as sinks are.
Grouping scattered(Index n, Index count) {
  Grouping out;
  for (Index g = 0; g < std::min(n, count); ++g) out.names.push_back(std::to_string(g));
  for (Index i = 0; i < n; ++i)
    out.group.push_back(static_cast<std::int32_t>(i * i % std::min(n, count)));
  for (Index g = 0; g < out.count(); ++g) out.group[g] = static_cast<std::int32_t>(g);
  return out;
}

/// Two spans and, from a length of 4 on, other tokens.
Grouping spans(Index n) {
  if (n == 1) return grouping_of_spans(n, {{"all", {0, 1}}});
  return grouping_of_spans(n, {{"front", {0, n / 2}}, {"back", {n / 2, n - n / 4}}});
}

/// The mean over queries in a of the sum over keys in b, in double.
double dense_mass(const Dense<double>& p, const Grouping& queries, Index a, const Grouping& keys,
                  Index b) {
  double mass = 0, rows = 0;
  for (Index i = 0; i < p.n; ++i) {
    if (queries.group[i] != a) continue;
    ++rows;
    for (Index j = 0; j < p.n; ++j)
      if (keys.group[j] == b) mass += p(i, j);
  }
  return mass / rows;
}

struct TwoOperators {
  Instance approximate, exact;
  explicit TwoOperators(Index n)
      : approximate(make_instance(*backends().front(), make_data(Data::gaussian, n, 8, 1, false),
                                  "hyper",
                                  {{"block", "16"}, {"samples", "16"}, {"min_length", "0"}})),
        exact(make_instance(*backends().front(), approximate.problem, "exact", {})) {}

  SpanMass mass(const Grouping& queries, const Grouping& keys,
                double max_entries = most_read_entries, std::uint64_t seed = 0) const {
    Profile profile;
    Run run{profile};
    return span_mass(*approximate.bound, *exact.bound, queries, keys, run, max_entries, seed);
  }
};

// Sums of up to 37 weights that are at most 1, of some 40 roundings of 2^-24 each.
constexpr double rounding_bound = 1e-5;

}  // namespace

TEST_CASE("span mass is the mean of sums over the dense matrices, and rows sum to one") {
  for_small_instances([](Instance x) {
    const Index n = x.plan->lengths.n();
    const std::string which =
        x.variant->id + " n=" + std::to_string(n) + (x.plan->causal ? " causal" : "");
    CAPTURE(which);
    const Instance exact = make_instance(*backends().front(), x.problem, "exact", {});
    const auto p = reference<double>(exact), q = reference<double>(x);
    for (const auto& [queries, keys] :
         {std::pair(spans(n), spans(n)), std::pair(spans(n), scattered(n, 3)),
          std::pair(scattered(n, 4), standard_sinks(n, {}))}) {
      Profile profile;
      Run run{profile};
      const SpanMass mass = span_mass(*x.bound, *exact.bound, queries, keys, run);
      REQUIRE(mass.query_groups == queries.count());
      REQUIRE(mass.key_groups == keys.count());
      CHECK_FALSE(mass.sampled);
      for (Index a = 0; a < queries.count(); ++a) {
        double sum = 0, dense_sum = 0, approximate_sum = 0;
        for (Index b = 0; b < keys.count(); ++b) {
          const double dense = dense_mass(q, queries, a, keys, b);
          CHECK(std::abs(mass(a, b).exact.value - dense_mass(p, queries, a, keys, b)) <
                rounding_bound);
          CHECK(std::abs(mass(a, b).approximate.value - dense) < rounding_bound);
          CHECK(mass(a, b).exact.standard_error == 0);
          CHECK(mass(a, b).approximate.standard_error == 0);
          sum += mass(a, b).exact.value;
          approximate_sum += mass(a, b).approximate.value;
          dense_sum += dense;
        }
        CHECK(std::abs(sum - 1) < rounding_bound);
        CHECK(std::abs(approximate_sum - dense_sum) < rounding_bound);
        if (x.variant->id == "h1d" && !x.plan->causal)
          CHECK(std::abs(approximate_sum - 1) < rounding_bound);
      }
    }
  });
}

TEST_CASE("span mass from a sample of queries is near that of all, by its standard errors") {
  constexpr Index n = 300;
  constexpr int draws = 200;
  const TwoOperators both(n);
  const Grouping queries =
      grouping_of_spans(n, {{"few", {0, 10}}, {"some", {10, 90}}, {"many", {90, 290}}});
  const Grouping keys = grouping_of_spans(n, {{"front", {0, 60}}, {"back", {200, 300}}});
  const SpanMass all = both.mass(queries, keys);
  CHECK(all.rows == std::vector<Index>{10, 80, 200, 10});
  double found = 0, said = 0;
  Index beyond = 0, cells = 0;
  for (int seed = 0; seed < draws; ++seed) {
    const SpanMass some = both.mass(queries, keys, 100.0 * n, std::uint64_t(seed));
    // Ten queries each of the small groups, and half of what is left of each of the others.
    REQUIRE(some.rows == std::vector<Index>{10, 40, 40, 10});
    CHECK(some.sampled);
    for (Index a = 0; a < 4; ++a) {
      double sum = 0;
      for (Index b = 0; b < 3; ++b) {
        const auto &mass = some(a, b), &truth = all(a, b);
        sum += mass.exact.value;
        const bool complete = a == 0 || a == 3;
        for (const auto& [estimate, exactly] :
             {std::pair(mass.exact, truth.exact), std::pair(mass.approximate, truth.approximate)}) {
          const double error = estimate.value - exactly.value;
          CHECK((estimate.standard_error == 0) == complete);
          if (complete) {
            CHECK(error == 0);
            continue;
          }
          found += error * error / draws;
          said += estimate.standard_error * estimate.standard_error / draws;
          beyond += std::abs(error) > 4 * estimate.standard_error;
          ++cells;
        }
      }
      CHECK(std::abs(sum - 1) < rounding_bound);
    }
  }
  // Normal errors are beyond 4 standard errors once in 16000; these are somewhat heavier in the
  // tails, with errors that are estimated from 40 queries themselves.
  CHECK(double(beyond) <= 2e-3 * double(cells));
  // A variance from 200 draws is off by sqrt(2 / 200) = 10 %, and less as a sum over 12 cells;
  // without the correction for finite groups it would be 1.3 to 2 times as large.
  CAPTURE(found);
  CAPTURE(said);
  CHECK(said < 1.25 * found);
  CHECK(said > found / 1.25);
}

TEST_CASE("small groups have at least 16 queries in a sample, however few are asked for") {
  const TwoOperators both(200);
  const SpanMass mass =
      both.mass(grouping_of_spans(200, {{"a", {0, 3}}, {"b", {3, 100}}}), scattered(200, 2), 1);
  CHECK(mass.rows == std::vector<Index>{3, 16, 16});
}

TEST_CASE("span mass holds a band of rows, ends at the end of its progress and can be cancelled") {
  constexpr Index n = 5000;
  const TwoOperators both(n);
  const Grouping groups = spans(n);
  Profile profile;
  Progress progress;
  Run whole{profile, {}, &progress};
  Run part = whole.part(0.25, 0.5);
  largest_allocation();
  span_mass(*both.approximate.bound, *both.exact.bound, groups, groups, part, 200.0 * n);
  CHECK(progress.fraction == 0.5);
  CHECK(largest_allocation() < std::size_t{n} * n);  // a quarter of P
  std::stop_source source;
  source.request_stop();
  Run stopped{profile, source.get_token()};
  CHECK_THROWS_AS(span_mass(*both.approximate.bound, *both.exact.bound, groups, groups, stopped),
                  Cancelled);
}

TEST_CASE("groups of another length than the head are refused") {
  const TwoOperators both(20);
  CHECK_SAYS(both.mass(spans(19), spans(20)), "groups of queries for 19 tokens",
             "expected the 20 queries of the head");
  CHECK_SAYS(both.mass(spans(20), spans(21)), "groups of keys for 21 tokens");
}
