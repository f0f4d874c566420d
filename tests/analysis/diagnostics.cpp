#include "analysis/diagnostics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "allocations.h"
#include "analysis/block_spread.h"
#include "analysis/leaf_skew.h"
#include "analysis/reach.h"
#include "analysis/row_bands.h"
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
  return diagnose(*x.variant, {*x.bound, approximate, *exact.bound, reference}, run);
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

TEST_CASE("figures of sampled rows are those of the rows, in the scale of all") {
  const Index n = 96, taken = 32;
  for (const Data data : {Data::equal, Data::gaussian}) {
    const Instance x = make_instance(*backends().front(), make_data(data, n, 3, 2, false), "hyper",
                                     {{"block", "8"}, {"samples", "8"}, {"min_length", "0"}});
    const Instance exact = make_instance(*backends().front(), x.problem, "exact", {});
    Profile profile;
    Run run{profile};
    const double entries = static_cast<double>(taken * n);
    const Output approximate = x.apply(x.problem.v), reference_output = exact.apply(x.problem.v);
    const auto all =
        sampling_figures({*x.bound, approximate, *exact.bound, reference_output}, run, entries);
    const auto p = reference<double>(exact);
    std::vector<double> squares(static_cast<std::size_t>(n));
    for (const IndexRange& band : row_bands({n, n}, entries, 0).bands)
      for (Index i = band.begin; i < band.end; ++i)
        for (Index j = 0; j < n; ++j) squares[static_cast<std::size_t>(j)] += p(i, j) * p(i, j);
    // n sum_i P_ij^2, of which a third of the rows gives a third.
    const double alpha = static_cast<double>(n) * *std::ranges::max_element(squares) * 3;
    CHECK(value_of(all, "alpha") == doctest::Approx(alpha).epsilon(1e-6));
    if (data == Data::equal) {
      CHECK(value_of(all, "alpha") == doctest::Approx(1).epsilon(1e-6));  // P is uniform
      CHECK(value_of(all, "block_mass") == doctest::Approx(8.0 / n).epsilon(1e-6));
      CHECK(value_of(all, "kappa") == doctest::Approx(1).epsilon(1e-5));
    }
    for (const char* id : {"stable_rank", "operator_error", "spectral_epsilon"})
      CHECK(std::isnan(value_of(all, id)));
    for (const Diagnostic& d : all) {
      // |P|_op needs every row
      const bool spectral =
          d.id == "stable_rank" || d.id == "operator_error" || d.id == "spectral_epsilon";
      CHECK(d.left_out == spectral);
      CHECK(std::isnan(d.value) == spectral);
      CHECK((to_text(d) == "left out") == spectral);
      CHECK((d.meaning.find("Left out: it needs every row") != std::string::npos) == spectral);
      CHECK(d.sampled == (!spectral && d.id != "row_sum_error"));
    }
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
  CHECK(reach("fixed", {{"stride", "8"}, {"summary", "2"}}, 61).share == 1);
  CHECK(reach("strided", {{"stride", "8"}}, 61).share == 1);
  // Own blocks alone reach only themselves: 7 blocks of 8 and one of 5.
  CHECK(reach("fixed", {{"stride", "8"}, {"heads", "first"}}, 61).share ==
        doctest::Approx((7 * 36.0 + 15) / (61 * 31.0)));
  CHECK(reach("strided", {{"stride", "32"}}, 1000).sampled_rows == 256);
}

TEST_CASE("block spread is the deviation of the fine logits of each coarse block") {
  const Index n = 64;
  const Problem problem = make_data(Data::gaussian, n, 3, 2, false);
  const auto plan =
      make_plan(*backends().front(), problem, "h1d", {{"block", "8"}, {"structure", "nested"}});
  const auto spread = block_spread(*plan, problem, {}, 1 << 20);  // all blocks
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
    CHECK(s.deviation == doctest::Approx(std::sqrt(variance / blocks)).epsilon(1e-9));
  }
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
    if (x.variant->id == "h1d" && x.plan->lengths.n() > 16)
      value_of(diagnostics_of(x), "block_spread_1");
    if (x.variant->id == "h1d" && x.plan->lengths.n() > 16)
      value_of(diagnostics_of(x), "level_mass_approximate_1");
  });
}
