#include "analysis/diagnostics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "allocations.h"
#include "analysis/block_spread.h"
#include "analysis/leaf_skew.h"
#include "analysis/reach.h"
#include "analysis/sampling_figures.h"
#include "analysis/spectrum.h"
#include "cases.h"
#include "pairs.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

namespace {

std::vector<Diagnostic> diagnostics_of(const Instance& x) {
  const Instance exact = make_instance(*backends().front(), x.problem, "exact", {});
  Profile profile;
  Run run{profile};
  const Output approximate = x.apply(x.problem.v), reference = exact.apply(x.problem.v);
  return diagnose(*x.variant, {*x.bound, approximate, *exact.bound, reference, *backends().front()},
                  run);
}

double value_of(const std::vector<Diagnostic>& all, const std::string& id) {
  for (const Diagnostic& d : all)
    if (d.id == id) return d.value;
  FAIL("no diagnostic " << id);
  return 0;
}

Instance golden_hyper() {
  Structure given;
  for (const char* name : {"query_order", "key_order"})
    given.set(name, std::vector{0, 1, 2, 3, 4, 5, 6, 7});
  given.set("sampled_keys", std::vector{0, 3, 6, 6});
  return make_instance(*backends().front(), golden_problem(), "hyper",
                       {{"block", "2"}, {"samples", "4"}, {"min_length", "0"}}, given);
}

}  // namespace

TEST_CASE("alpha, kappa and stable rank of the golden example") {
  const auto all = diagnostics_of(golden_hyper());
  // Six decimals are given; float32 entries are good for seven digits.
  CHECK(value_of(all, "alpha") == doctest::Approx(2.209364).epsilon(1e-6));
  CHECK(value_of(all, "kappa") == doctest::Approx(1.574709).epsilon(1e-6));
  CHECK(value_of(all, "stable_rank") == doctest::Approx(1.420207).epsilon(2e-6));
}

TEST_CASE("the relative error of values of 0 is 0, not NaN") {
  Instance x = golden_hyper();
  Structure given = x.plan->structure;
  Problem problem = x.problem;
  const Problem zero = make_problem(Matrix::copy_of(problem.q), Matrix::copy_of(problem.k),
                                    Matrix(problem.n(), problem.dv()), problem.scale);
  x = make_instance(*backends().front(), zero, "hyper",
                    {{"block", "2"}, {"samples", "4"}, {"min_length", "0"}}, given);
  const auto all = diagnostics_of(x);
  CHECK(value_of(all, "spectral_epsilon") == 0);
  for (const Diagnostic& d : all) CHECK_FALSE(std::isnan(d.value));
}

TEST_CASE("HyperAttention's Eq. 1, block mass and row sums against dense matrices") {
  const Instance x = golden_hyper();
  const auto all = diagnostics_of(x);
  const Instance exact = make_instance(*backends().front(), x.problem, "exact", {});
  const auto p = reference<double>(exact), q = reference<double>(x);
  double mass = 0, sums = 0;
  const auto weight = [&](Index i, Index j) {
    const double draws = j == 0 || j == 3 ? 1 : j == 6 ? 2 : 0;
    return i / 2 == j / 2 ? 1.0 : 8.0 / 4.0 * draws;
  };
  for (Index i = 0; i < 8; ++i) {
    double sum = 0;
    for (Index j = 0; j < 8; ++j) {
      if (i / 2 == j / 2) mass += p(i, j) / 8;
      sum += weight(i, j) * p(i, j);
    }
    sums += std::abs(sum - 1) / 8;
  }
  CHECK(value_of(all, "block_mass") == doctest::Approx(mass).epsilon(1e-6));
  CHECK(value_of(all, "row_sum_error") == doctest::Approx(sums).epsilon(1e-5));
  // Operator norms by plain power iteration on the dense matrices.
  const auto norm = [](const std::vector<double>& m, Index cols) {
    std::vector<double> v(static_cast<std::size_t>(cols), 1.0);
    v[0] = 1.3;
    double lambda = 0;
    for (int step = 0; step < 3000; ++step) {
      std::vector<double> w(v.size(), 0.0);
      for (std::size_t i = 0; i < m.size(); i += v.size()) {
        double dot = 0;
        for (std::size_t c = 0; c < v.size(); ++c) dot += m[i + c] * v[c];
        for (std::size_t c = 0; c < v.size(); ++c) w[c] += m[i + c] * dot;
      }
      lambda = 0;
      for (const double e : w) lambda += e * e;
      lambda = std::sqrt(lambda);
      for (std::size_t c = 0; c < v.size(); ++c) v[c] = w[c] / lambda;
    }
    return std::sqrt(lambda);
  };
  auto difference = times(q, x.problem.v);
  const auto z = times(p, x.problem.v);
  for (std::size_t e = 0; e < z.size(); ++e) difference[e] -= z[e];
  std::vector<double> v;
  for (Index i = 0; i < 8; ++i)
    for (Index c = 0; c < 2; ++c) v.push_back(static_cast<double>(x.problem.v(i, c)));
  const double eps = norm(difference, 2) / (norm(p.values, 8) * norm(v, 2));
  CHECK(value_of(all, "spectral_epsilon") == doctest::Approx(eps).epsilon(1e-5));
}

TEST_CASE("law: what a cache evicts is missed from the first query on that lacks it") {
  constexpr Index n = 60;
  const Problem problem = make_data(Data::gaussian, n, 8, 3, true);
  const Dense<double> p =
      reference<double>(make_instance(*backends().front(), problem, "exact", {}));
  for (const char* id : {"h2o", "snapkv", "expected"})
    for (const char* budget : {"4", "12", "25", "60"}) {
      CAPTURE(id);
      CAPTURE(budget);
      const Instance x = make_instance(*backends().front(), problem, id, {{"budget", budget}});
      const auto& evicted = x.plan->structure.integers("evicted");
      const auto found = diagnostics_of(x);
      if (std::ranges::count(evicted, n) == n) {
        CHECK(found.empty());
        continue;
      }
      double mass = 0, top = 0, first = HUGE_VAL;
      for (Index i = 0; i < n; ++i) {
        Index heaviest = 0;
        for (Index j = 0; j <= i; ++j) {
          if (p(i, j) > p(i, heaviest)) heaviest = j;
          if (evicted[std::size_t(j)] <= i) mass += p(i, j) / double(n);
        }
        if (evicted[std::size_t(heaviest)] > i) continue;
        top += 1 / double(n);
        first = std::min(first, double(i));
      }
      // The program sums weights of float32.
      CHECK(value_of(found, "evicted_mass") == doctest::Approx(mass).epsilon(1e-5));
      CHECK(value_of(found, "evicted_top") == doctest::Approx(top));
      CHECK(value_of(found, "first_miss") == first);
    }
}

TEST_CASE("every figure of a sample has a standard error, and the text says it") {
  struct Long {
    const char* id;
    Settings settings;
    std::vector<std::string> sampled;
  };
  // Two hops are counted from 256 rows, and spreads from two million logits.
  for (const Long& x : std::vector<Long>{
           {"window", {{"width", "9"}}, {"two_hop_reach"}},
           {"reformer", {{"chunk", "16"}}, {"two_hop_reach"}},
           {"h1d", {{"block", "16"}}, {"block_spread_6"}},
           {"hyper", {{"block", "64"}, {"samples", "64"}, {"min_length", "0"}}, {}}}) {
    CAPTURE(x.id);
    const Problem problem = make_data(Data::gaussian, 3000, 3, 2, false);
    std::vector<std::string> sampled;
    for (const Diagnostic& d :
         diagnostics_of(make_instance(*backends().front(), problem, x.id, x.settings))) {
      CHECK((d.standard_error > 0) == d.sampled);
      CHECK((to_text(d).find("±") != std::string::npos) == d.sampled);
      if (d.sampled) sampled.push_back(d.id);
    }
    for (const std::string& id : x.sampled) {
      CAPTURE(id);
      CHECK(std::ranges::count(sampled, id) == 1);
    }
    if (x.sampled.empty()) CHECK(sampled.empty());
  }
}

TEST_CASE(
    "kappa is left out under a causal mask, where the first rows lie wholly in their blocks") {
  const Problem problem = make_data(Data::gaussian, 12, 3, 2, true);
  const Instance x = make_instance(*backends().front(), problem, "hyper",
                                   {{"block", "2"}, {"samples", "3"}, {"min_length", "4"}});
  REQUIRE(x.plan->structure.has("query_order"));
  const auto all = diagnostics_of(x);
  const auto kappa = std::ranges::find(all, "kappa", &Diagnostic::id);
  REQUIRE(kappa != all.end());
  CHECK(kappa->left_out);
  CHECK(std::isnan(kappa->value));
}

TEST_CASE("leaf skew of sizes counted by hand") {
  Profile profile;
  Run run{profile};
  // Leaves of 4, 0, 2 and 2 queries, and of 2, 6, 0 and 0 keys.
  const std::vector<std::int32_t> queries{3, 0, 2, 0, 0, 3, 2, 0}, keys{1, 0, 1, 1, 1, 0, 1, 1};
  const LeafSkew s = leaf_skew({"leaf", queries, keys, {2, 2}, 4}, run);
  CHECK(s.chi == 8.0 / 64.0);
  CHECK(s.queries.effective_leaves == 64.0 / (16 + 4 + 4));
  CHECK(s.keys.effective_leaves == 64.0 / (4 + 36));
  CHECK(s.queries.empty_leaves == 1);
  CHECK(s.keys.empty_leaves == 2);
  CHECK(s.queries_without_keys == 4);
  CHECK(s.queries.largest_leaf == 4);
  CHECK(s.keys.largest_leaf == 6);
  // Mean absolute difference of all 16 ordered pairs over twice the mean: (2*(4+2+2+6+6)/16)/4 for
  // the keys, (2*(4+2+2+2+2+0)/16)/4 for the queries.
  CHECK(s.keys.gini == doctest::Approx(40.0 / 16.0 / 4.0));
  CHECK(s.queries.gini == doctest::Approx(24.0 / 16.0 / 4.0));
  // The figures are these numbers, each under its name.
  const std::pair<const char*, double> named[] = {
      {"chi", s.chi},
      {"effective_leaves_of_queries", s.queries.effective_leaves},
      {"effective_leaves_of_keys", s.keys.effective_leaves},
      {"gini_of_queries", s.queries.gini},
      {"gini_of_keys", s.keys.gini},
      {"queries_without_keys", 4},
      {"empty_leaves", 2},
      {"leaves_without_queries", 1},
      {"largest_leaf", 6},
      {"effective_leaves", 8}};
  const auto figures = skew_diagnostics(s, "leaf");
  REQUIRE(figures.size() == std::size(named));
  for (const auto& [id, value] : named) CHECK(value_of(figures, id) == value);
  const std::vector<std::int32_t> even{0, 1, 2, 2, 1, 0, 0, 1, 2};
  const LeafSkew balanced = leaf_skew({"leaf", even, even, {3}, 3}, run);
  CHECK(balanced.queries.gini == 0);
  CHECK(balanced.keys.gini == 0);
  CHECK(balanced.keys.effective_leaves == doctest::Approx(3));
  CHECK(balanced.chi == doctest::Approx(1.0 / 3));
}

TEST_CASE("the figures of leaves keep their bounds, however queries and keys lie") {
  Profile profile;
  Run run{profile};
  std::mt19937 random(7);
  for (int round = 0; round < 300; ++round) {
    const Index leaves = 1 + static_cast<Index>(random() % 40);
    const std::size_t n = 1 + random() % 200;
    // The lower its power, the more tokens are in the first leaves.
    const auto side = [&](double power) {
      std::vector<std::int32_t> of_token(n);
      for (std::int32_t& leaf : of_token) {
        const double share = std::pow(static_cast<double>(random()) / 4294967296.0, power);
        leaf = static_cast<std::int32_t>(share * static_cast<double>(leaves));
      }
      return of_token;
    };
    const auto queries = side(1 + round % 5), keys = side(0.3);
    const LeafSkew s = leaf_skew({"leaf", queries, keys, {}, leaves}, run);
    const double rounding = 1e-12;
    for (const SideSkew& its : {s.queries, s.keys}) {
      CHECK(its.effective_leaves >= 1 - rounding);
      CHECK(its.effective_leaves <= double(leaves - its.empty_leaves) + rounding);
      CHECK(its.gini >= -rounding);
      CHECK(its.gini <= 1 - 1 / double(leaves) + rounding);
      CHECK(its.largest_leaf <= Index(n));
    }
    CHECK(s.chi >= 0);
    CHECK(s.chi * s.chi <= (1 + rounding) / (s.queries.effective_leaves * s.keys.effective_leaves));
  }
}

TEST_CASE("the skew of 2^30 buckets takes the memory of the tokens, and stops when asked to") {
  const Index n = 4096, buckets = Index{1} << 30;
  std::vector<std::int32_t> one(static_cast<std::size_t>(n)), other(one.size(), 5);
  for (std::size_t i = 0; i < one.size(); ++i)
    one[i] = static_cast<std::int32_t>(buckets - 1 - static_cast<Index>(i) * 1000);
  const Leaves leaves{"bucket", one, other, {}, buckets};
  Profile profile;
  std::stop_source stop;
  Run run{profile, stop.get_token()};
  largest_allocation();
  const LeafSkew skew = leaf_skew(leaves, run);
  CHECK(largest_allocation() <= static_cast<std::size_t>(n) * 64);
  CHECK(skew.chi == 0);
  CHECK(skew.keys.empty_leaves == buckets - 1);
  CHECK(skew.queries.empty_leaves == buckets - n);
  CHECK(skew.queries_without_keys == n);
  CHECK(skew.keys.largest_leaf == n);
  CHECK(skew.keys.gini == doctest::Approx(1.0 - 1.0 / static_cast<double>(buckets)));
  stop.request_stop();
  CHECK_THROWS_AS(leaf_skew(leaves, run), Cancelled);
}

TEST_CASE("figures of a hash of 30 bits take the memory of the tokens") {
  const Problem problem = make_data(Data::gaussian, 96, 4, 3, false);
  const Instance x =
      make_instance(*backends().front(), problem, "hyper",
                    {{"block", "8"}, {"samples", "8"}, {"projections", "30"}, {"min_length", "1"}});
  largest_allocation();
  const auto all = diagnostics_of(x);
  CHECK(largest_allocation() <= 1 << 20);  // P is 96 x 96; 2^30 counts are gigabytes
  CHECK(value_of(all, "empty_leaves") > 1e8);
}

TEST_CASE("two-hop reach: merged and strided reach every causal pair") {
  const auto reach = [](const char* id, Settings settings, Index n) {
    const Problem problem = make_data(Data::gaussian, n, 2, 2, true);
    return two_hop_reach(*make_plan(*backends().front(), problem, id, settings));
  };
  CHECK(reach("fixed", {{"stride", "8"}, {"summary", "2"}}, 61).share.value == 1);
  CHECK(reach("strided", {{"stride", "8"}}, 61).share.value == 1);
  // Own blocks alone reach only themselves: 7 blocks of 8 and one of 5.
  CHECK(reach("fixed", {{"stride", "8"}, {"heads", "first"}}, 61).share.value ==
        doctest::Approx((7 * 36.0 + 15) / (61 * 31.0)));
  CHECK(reach("strided", {{"stride", "32"}}, 1000).sampled_rows == 256);
}

TEST_CASE("block spread is the deviation of the fine logits of each coarse block") {
  const Index n = 64;
  const Problem problem = make_data(Data::gaussian, n, 3, 2, false);
  const auto plan =
      make_plan(*backends().front(), problem, "h1d", {{"block", "8"}, {"structure", "nested"}});
  const auto spread = block_spread(*plan, problem);
  REQUIRE(spread.size() == 2);
  // Nested, block 8: level l >= 1 owns sibling quadrants of side 8 2^l, in 2^l x 2^l blocks.
  const Matrix owner = level_owner(*plan, {0, n}, {0, n});
  for (const BlockSpread& s : spread) {
    const Index side = Index{1} << s.level;
    double variance = 0, blocks = 0;
    for (Index bi = 0; bi < n; bi += side)
      for (Index bj = 0; bj < n; bj += side) {
        if (static_cast<int>(owner(bi, bj)) != s.level) continue;
        double sum = 0, squares = 0, count = 0;
        for (Index i = bi; i < bi + side; ++i)
          for (Index j = bj; j < bj + side; ++j) {
            double logit = 0;
            for (Index c = 0; c < 3; ++c)
              logit += problem.scale * static_cast<double>(problem.q(i, c)) *
                       static_cast<double>(problem.k(j, c));
            sum += logit, squares += logit * logit, ++count;
          }
        variance += squares / count - sum / count * (sum / count);
        ++blocks;
      }
    CHECK(s.deviation.value == doctest::Approx(std::sqrt(variance / blocks)).epsilon(1e-9));
    CHECK_FALSE(s.sampled);
    CHECK(s.deviation.standard_error == 0);
  }
}

TEST_CASE("the spread of drawn blocks is right on average, and varies as it says") {
  // Blocks of 4 x 4 of which all logits are used, and of 64 x 64 of which 32 x 32 are drawn. The
  // keys have a mean, so that a row has most of its logits in common: 32 of them vary by 1/32 less.
  Matrix k = gaussian(256, 3, 2);
  for (Index j = 0; j < 256; ++j) k(j, 0) += 2;
  const Problem problem = make_problem(gaussian(256, 3, 1), std::move(k), gaussian(256, 2, 3));
  const auto plan =
      make_plan(*backends().front(), problem, "h1d", {{"block", "2"}, {"structure", "nested"}});
  const auto truth = block_spread(*plan, problem, {}, 1 << 20);
  for (const std::size_t l : {std::size_t{1}, std::size_t{5}}) {
    CAPTURE(l);
    REQUIRE_FALSE(truth[l].sampled);
    constexpr int seeds = 400;
    double mean = 0, squares = 0, said = 0;
    for (int seed = 0; seed < seeds; ++seed) {
      const BlockSpread some =
          block_spread(*plan, problem, {}, 16, static_cast<std::uint64_t>(seed))[l];
      REQUIRE(some.sampled);
      const double variance = some.deviation.value * some.deviation.value,
                   error = 2 * some.deviation.value * some.deviation.standard_error;
      mean += variance / seeds;
      squares += variance * variance / seeds;
      said += error * error / seeds;
    }
    const double expected = truth[l].deviation.value * truth[l].deviation.value,
                 found = squares - mean * mean;
    // Four standard errors of the mean of 400: one in 16,000 such tests is further away.
    CHECK(std::abs(mean - expected) < 4 * std::sqrt(found / seeds));
    // A variance from 400 draws is off by sqrt(2 / 400) = 7 %, and more where tails are heavy.
    CHECK(said / found == doctest::Approx(1).epsilon(0.3));
  }
}

TEST_CASE("two-hop reach of sampled rows is within its standard error") {
  const Problem problem = make_data(Data::gaussian, 400, 2, 2, true);
  const auto plan = make_plan(*backends().front(), problem, "window", {{"width", "9"}});
  const double truth = two_hop_reach(*plan, {}, 400).share.value;
  CHECK(two_hop_reach(*plan, {}, 400).share.standard_error == 0);
  int inside = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Estimate share = two_hop_reach(*plan, {}, 60, seed).share;
    inside += std::abs(share.value - truth) <= 1.96 * share.standard_error;
  }
  CHECK(inside >= 180);  // 190 expected: fewer than 180 in one of 600 such tests
}

TEST_CASE("buckets are counted from the plan, not from those that occur") {
  const auto figure = [](const Problem& problem, const char* id, const Settings& settings,
                         const char* name) {
    return value_of(diagnostics_of(make_instance(*backends().front(), problem, id, settings)),
                    name);
  };
  // All keys are equal: they are in one bucket, whichever it is.
  const Problem equal = make_data(Data::equal, 40, 4, 3, false);
  for (const char* id : {"hyper", "kde"})
    for (const auto& [bits, buckets] : {std::pair{"4", 16}, {"7", 128}, {"1", 2}}) {
      Settings settings{{"block", "8"}, {"samples", "8"}, {"projections", bits}};
      if (std::string(id) == "hyper") settings.push_back({"min_length", "0"});
      CHECK(figure(equal, id, settings, "empty_leaves") == buckets - 1);
      CHECK(figure(equal, id, settings, "leaves_without_queries") == buckets - 1);
      CHECK(figure(equal, id, settings, "gini_of_keys") == doctest::Approx(1 - 1.0 / buckets));
    }
  // 2 ceil(n / m) buckets; beyond 64 the product of two even factors that hold as many.
  CHECK(figure(equal, "reformer", {{"chunk", "4"}}, "empty_leaves") == 20 - 1);
  CHECK(figure(equal, "reformer", {{"chunk", "7"}}, "empty_leaves") == 12 - 1);
  CHECK(figure(equal, "reformer", {{"chunk", "1"}}, "empty_leaves") == 10 * 8 - 1);
  const Problem other = make_data(Data::gaussian, 341, 8, 3, false);
  const Instance x = make_instance(*backends().front(), other, "reformer", {{"chunk", "32"}});
  const auto leaves = leaves_of(*x.plan);
  REQUIRE(leaves);
  CHECK(leaves->count == 22);
}

TEST_CASE("every variant offers its own figures") {
  for_small_instances([](const Instance& x) {
    INFO(x.variant->id << " n=" << x.plan->lengths.n() << " causal=" << x.plan->causal);
    for (const Diagnostic& d : diagnostics_of(x)) {
      CHECK(std::isnan(d.value) == d.left_out);
      CHECK_FALSE(d.label.empty());
    }
    if (x.variant->id == "tf" || x.variant->id == "tc") value_of(diagnostics_of(x), "chi");
    if (x.variant->id == "strided" && x.plan->lengths.n() > 16)
      value_of(diagnostics_of(x), "two_hop_reach");
    if (x.variant->id == "moba" && x.plan->lengths.n() > 16)
      value_of(diagnostics_of(x), "selected_recall");
    if (x.variant->id == "h1d" && x.plan->lengths.n() > 16)
      value_of(diagnostics_of(x), "block_spread_1");
    if (x.variant->id == "h1d" && x.plan->lengths.n() > 16)
      value_of(diagnostics_of(x), "level_mass_approximate_1");
  });
}
