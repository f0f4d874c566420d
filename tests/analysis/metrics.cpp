// Metrics against the same figures of dense matrices in double.
#include "analysis/metrics.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "analysis/measures.h"
#include "backend/backends.h"
#include "cases.h"
#include "laws/conditions.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

namespace {

struct Compared {
  Instance approximate, exact;
  Metrics metrics;
};

Compared compared(Instance approximate) {
  const Problem problem = approximate.problem;
  Instance exact = make_instance(*backends().front(), problem, "exact", {});
  Profile profile;
  Run run{profile};
  Metrics m = compare(*approximate.bound, approximate.apply(problem.v), *exact.bound,
                      exact.apply(problem.v), run);
  return {std::move(approximate), std::move(exact), std::move(m)};
}

// A variant and exact attention of one problem, compared as often as is asked.
struct Pair {
  Instance approximate, exact;
  Output approximate_output, exact_output;

  Pair(const std::string& id, Index n, Data data = Data::gaussian,
       const Backend& backend = *backends().front())
      : approximate(make_instance(
            backend, make_data(data, n, 8, 16, false), id,
            id == "hyper" ? Settings{{"block", "32"}, {"samples", "32"}, {"min_length", "0"}}
            : id == "h1d" ? Settings{{"block", "16"}}
                          : Settings{{"stride", "32"}})),
        exact(make_instance(backend, approximate.problem, "exact", {})),
        approximate_output(approximate.apply(approximate.problem.v)),
        exact_output(exact.apply(exact.problem.v)) {}

  Metrics metrics(double max_entries = most_read_entries, std::uint64_t seed = 0,
                  bool values = true) const {
    Profile profile;
    Run run{profile};
    return compare(*approximate.bound, values ? approximate_output : sums_of(approximate_output),
                   *exact.bound, values ? exact_output : sums_of(exact_output), run, max_entries,
                   seed);
  }
  Metrics of_rows(Index rows, std::uint64_t seed, bool values = true) const {
    return metrics(static_cast<double>(rows * exact.plan->lengths.n()), seed, values);
  }
  /// The output of a head without values.
  static Output sums_of(const Output& output) { return {.z = {}, .lse = output.lse}; }
};

// Estimates of one figure from many samples.
struct Spread {
  std::vector<double> values;
  std::vector<double> errors;  // what the standard errors say

  void add(const Estimate& e) {
    values.push_back(e.value);
    errors.push_back(e.standard_error);
  }
  /// Returns the share of intervals of 1.96 standard errors that hold the truth.
  double check(double truth) const {
    const double count = static_cast<double>(values.size());
    double bias = 0, found = 0, said = 0, covered = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const double off = values[i] - truth;
      bias += off / count;
      found += off * off / count;
      said += errors[i] * errors[i] / count;
      covered += (std::abs(off) <= 1.96 * errors[i] ? 1 : 0) / count;
    }
    CAPTURE(found);
    CAPTURE(said);
    // A variance found from 600 draws is off by sqrt(2 / 600) = 5.8 %; five of these, and a little
    // for the linearisation of a ratio.
    CHECK(said <= 1.32 * found);
    CHECK(said >= found / 1.32);
    CHECK(std::abs(bias) <= 5 * std::sqrt(said / count));
    // A share of 95 % found from 600 draws has a standard deviation of sqrt(0.95 x 0.05 / 600) =
    // 0.9 %: three of these. More than 95 % are never expected: the errors would be too large.
    const double chance = 3 * std::sqrt(0.95 * 0.05 / count);
    CHECK(covered >= 0.95 - chance);
    CHECK(covered <= 0.95 + chance);
    return covered;
  }
};

// float32 sums of up to 40 terms of size 1: a few units of 2^-24 each.
doctest::Approx close(double x) {
  return doctest::Approx(x).epsilon(2e-5).scale(1e-2);
}

}  // namespace

TEST_CASE("where a row is not finite, no figure over the rows is a number") {
  const Index n = 70, bad = 5;
  for (const char* id : {"exact", "h1d", "fixed", "hyper"})
    for (const bool all : {false, true}) {
      CAPTURE(id);
      CAPTURE(all);
      const Problem clean = make_data(Data::gaussian, n, 3, 5, false);
      Matrix q = Matrix::copy_of(clean.q), k = Matrix::copy_of(clean.k);
      q(bad, 1) = std::numeric_limits<float>::quiet_NaN();
      for (Index i = 0; all && i < n; ++i)  // every q.k is infinite
        for (Index c = 0; c < 3; ++c) q(i, c) = k(i, c) = 1e30f;
      const Problem problem =
          make_problem(std::move(q), std::move(k), Matrix::copy_of(clean.v), clean.scale);
      const Instance exact = make_instance(*backends().front(), problem, "exact", {});
      const Instance other = make_instance(
          *backends().front(), problem, id,
          std::string(id) == "hyper" ? Settings{{"block", "8"}, {"min_length", "1"}} : Settings{});
      const Instance& approximate = std::string(id) == "exact" ? exact : other;
      Profile profile;
      Run run{profile};
      const Metrics m = compare(*approximate.bound, approximate.apply(problem.v), *exact.bound,
                                exact.apply(problem.v), run);
      for (const double figure :
           {m.output_rel_fro, m.output_max_abs, m.row_rel_error_p50, m.row_rel_error_p90,
            m.row_rel_error_max, m.attention_rel_fro.value, m.attention_tv.value,
            m.attention_tv_p90.value, m.attention_tv_max, m.attention_kl.value, m.mass_kept.value,
            m.top_recall[0].value, m.top_recall[1].value, m.top_recall[2].value})
        CHECK(std::isnan(figure));
      REQUIRE(m.attention_reverse_kl);
      CHECK(std::isnan(m.attention_reverse_kl->value));
      CHECK(std::isnan(m.token_error[bad]));
      if (std::string(id) != "h1d")  // which mixes queries
        CHECK(std::isnan(m.token_error[bad + 1]) == all);
      CHECK((m.density > 0 && m.density <= 1));
    }
}

TEST_CASE("metrics equal those of the dense matrices") {
  for_small_instances([](Instance x) {
    // A message is formatted when a check fails: by then `x` has been moved from.
    const std::string which = x.variant->id + " n=" + std::to_string(x.plan->lengths.n()) +
                              (x.plan->causal ? " causal" : "");
    CAPTURE(which);
    const Compared c = compared(std::move(x));
    const Index n = c.exact.plan->lengths.n();
    const auto p = reference<double>(c.exact), q = reference<double>(c.approximate);
    const auto z = times(p, c.exact.problem.v), y = times(q, c.exact.problem.v);
    double error = 0, norm = 0, mass = 0, nonzero = 0, z_error = 0, z_norm = 0;
    double kl = 0, reverse = 0, infinite = 0;
    bool negative = false;
    std::vector<double> variation;
    for (Index i = 0; i < n; ++i) {
      double row_kl = 0, row_variation = 0;
      bool finite = true;
      for (Index j = 0; j < n; ++j) {
        error += (q(i, j) - p(i, j)) * (q(i, j) - p(i, j));
        norm += p(i, j) * p(i, j);
        row_variation += std::abs(q(i, j) - p(i, j)) / 2;
        if (q(i, j) != 0) mass += p(i, j), nonzero += 1;
        if (p(i, j) > 0 && q(i, j) > 0) row_kl += p(i, j) * std::log(p(i, j) / q(i, j));
        if (p(i, j) > 0 && !(q(i, j) > 0)) finite = false;
        if (q(i, j) > 0) reverse += q(i, j) * std::log(q(i, j) / p(i, j));
        if (q(i, j) < 0) negative = true;
      }
      kl += row_kl;
      infinite += !finite;
      variation.push_back(row_variation);
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
    if (negative) infinite = 0;  // it is not defined
    CHECK(double(m.attention_kl.infinite_rows) == infinite);
    CHECK(m.attention_kl.infinite_share.value == close(infinite / double(n)));
    if (negative)
      CHECK(std::isnan(m.attention_kl.value));
    else if (infinite > 0)
      CHECK(m.attention_kl.value == std::numeric_limits<double>::infinity());
    else
      CHECK(m.attention_kl.value == close(kl / double(n)));
    REQUIRE(m.attention_reverse_kl.has_value() == !negative);
    if (!negative) {
      CHECK(m.attention_reverse_kl->value == close(reverse / double(n)));
      CHECK(m.attention_reverse_kl->infinite_rows == 0);
    }
    CHECK(m.attention_tv.value ==
          close(std::accumulate(variation.begin(), variation.end(), 0.0) / double(n)));
    std::ranges::sort(variation);
    CHECK(m.attention_tv_max == close(variation.back()));
    CHECK(m.attention_tv_p90.value ==
          close(variation[std::size_t(std::ceil(0.9 * double(n))) - 1]));
    CHECK(m.rows == n);
    CHECK_FALSE(m.sampled());
    CHECK(m.attention_rel_fro.standard_error == 0);
    CHECK(m.mass_kept.standard_error == 0);
    CHECK(static_cast<Index>(m.token_error.size()) == n);
  });
}

TEST_CASE("errors of outputs, their quantiles over rows and their maxima") {
  for (const Index n : {1, 2, 10, 37}) {
    CAPTURE(n);
    const Pair pair("hyper", n);
    const Metrics m = pair.metrics();
    const Matrix &y = pair.approximate_output.z, &z = pair.exact_output.z;
    std::vector<double> relative;
    double largest = 0;
    for (Index i = 0; i < n; ++i) {
      double error = 0, norm = 0;
      for (Index c = 0; c < z.cols(); ++c) {
        const double difference = double(y(i, c)) - double(z(i, c));
        error += difference * difference;
        norm += double(z(i, c)) * double(z(i, c));
        largest = std::max(largest, std::abs(difference));
      }
      CHECK(double(m.token_error[std::size_t(i)]) == doctest::Approx(std::sqrt(error)));
      relative.push_back(std::sqrt(error / norm));
    }
    std::ranges::sort(relative);
    // The least value that is not exceeded by that share of the rows.
    const auto at = [&](double share) {
      std::size_t rows = 1;
      while (double(rows) < share * double(n)) ++rows;
      return doctest::Approx(relative[rows - 1]);
    };
    CHECK(m.row_rel_error_p50 == at(0.5));
    CHECK(m.row_rel_error_p90 == at(0.9));
    CHECK(m.row_rel_error_max == at(1));
    CHECK(m.output_max_abs == doctest::Approx(largest));
  }
}

TEST_CASE("the small mass that a row drops is reported within rounding") {
  // Logits of up to 80: of most rows one or two keys have nearly all the mass.
  const Pair pair("strided", 64, Data::huge);
  const Metrics m = pair.metrics();
  const auto p = reference<double>(pair.exact), q = reference<double>(pair.approximate);
  Index little = 0;
  for (Index i = 0; i < 64; ++i) {
    double dropped = 0;
    for (Index j = 0; j < 64; ++j)
      if (!(q(i, j) > 0)) dropped += p(i, j);
    const auto said = double(m.dropped_mass[std::size_t(i)]);
    CAPTURE(i);
    // Sums of 64 numbers in float are off by less than 1e-5; logits of 80 by 80 roundings more.
    CHECK(std::abs(said - dropped) <= 3e-5);
    little += 1e-4 < dropped && dropped < 1e-2;
  }
  CHECK(little > 0);
  std::vector<float> sorted = m.dropped_mass;
  std::ranges::sort(sorted);
  CHECK(m.dropped_mass_p50.value == double(sorted[31]));
}

TEST_CASE("a sample of rows is part of all rows") {
  const Pair pair("hyper", 400);
  const Metrics all = pair.metrics(), some = pair.of_rows(80, 0);
  CHECK(all.rows == 400);
  CHECK_FALSE(all.sampled());
  CHECK(some.rows == 80);
  CHECK(some.sampled());
  Index known = 0;
  for (std::size_t i = 0; i < 400; ++i)
    if (!std::isnan(some.dropped_mass[i])) {
      ++known;
      CHECK(some.dropped_mass[i] == all.dropped_mass[i]);
    }
  CHECK(known == 80);
}

TEST_CASE("estimates vary around the truth by their standard error, neither less nor more") {
  constexpr int draws = 600;
  const auto one_thread = make_cpu_backend({.threads = 1});  // for many small pieces of work
  struct Sampling {
    const char* id;
    Index n, rows;
    Data data = Data::gaussian;
    bool values = true;
  };
  double least = 1, most = 0;
  // Half of the rows: without the correction for a finite population variances would double. A
  // quarter: a few rows have much of the error. Of intervals from 256 of 1024 rows that all had the
  // same chance, only 89 % (`h1d`) and 92 % (`hyper`) held the truth. Rows are drawn by their
  // outputs, which tell the more of weights, the more values a token has: here it has 16, in most
  // models 64 or 128.
  for (const Sampling& of : {Sampling{"hyper", 512, 256},
                             {"h1d", 512, 256},
                             {"hyper", 768, 192},
                             {"h1d", 768, 192},
                             {"h1d", 768, 192, Data::gaussian, false},
                             {"hyper", 768, 192, Data::huge}}) {
    const Pair pair(of.id, of.n, of.data, *one_thread);
    const Metrics all = pair.metrics();
    Spread norm, mass, kl, reverse, variation, recall;
    for (std::uint64_t seed = 0; seed < draws; ++seed) {
      const Metrics some = pair.of_rows(of.rows, seed, of.values);
      REQUIRE(some.rows == of.rows);
      norm.add(some.attention_rel_fro);
      mass.add(some.mass_kept);
      kl.add(some.attention_kl);
      reverse.add(some.attention_reverse_kl.value());
      variation.add(some.attention_tv);
      recall.add(some.top_recall[1]);
    }
    CAPTURE(std::string(of.id));
    CAPTURE(of.n);
    CAPTURE(of.values);
    std::vector<double> covered{norm.check(all.attention_rel_fro.value),
                                variation.check(all.attention_tv.value),
                                recall.check(all.top_recall[1].value)};
    // `hyper` drops mass, and has a KL that is infinite; `h1d` keeps all pairs.
    if (all.attention_kl.infinite_rows == 0)
      covered.push_back(kl.check(all.attention_kl.value));
    else
      covered.push_back(mass.check(all.mass_kept.value));
    if (all.attention_reverse_kl->infinite_rows == 0)
      covered.push_back(reverse.check(all.attention_reverse_kl->value));
    least = std::min(least, std::ranges::min(covered));
    most = std::max(most, std::ranges::max(covered));
  }
  MESSAGE("intervals that hold the truth: " << 100 * least << " to " << 100 * most << " %");
}

namespace {

Metrics metrics_of(const Problem& problem, const char* id, const Settings& settings) {
  const Instance exact = make_instance(*backends().front(), problem, "exact", {}),
                 x = make_instance(*backends().front(), problem, id, settings);
  Profile profile;
  Run run{profile};
  return compare(*x.bound, x.apply(problem.v), *exact.bound, exact.apply(problem.v), run);
}

}  // namespace

TEST_CASE("whether a query has keys is counted, not told from its row sum beside a sink") {
  // Query 0 has no key, query 1 two equal ones, of which a window of 0 keeps its own.
  for (const double sink : {1.0, 1.567951, -3.0, 20.0, 200.0}) {
    CAPTURE(sink);
    Problem problem = make_problem(Matrix(2, 1), Matrix(2, 1), Matrix(2, 1, 1.0f));
    BitMatrix pairs(2, 2);
    pairs.set(1, 0);
    pairs.set(1, 1);
    set_mask(problem, {}, {}, std::move(pairs));
    change_rule(problem, [&](LogitRule& rule) { rule.sink = sink; });
    const Metrics m = metrics_of(problem, "window", {{"width", "0"}});
    CHECK(m.mass_kept.value == 0.75);
    // Where the sink leaves no weight that a float holds, there is no top key to be found.
    CHECK(m.top_recall[0].value == (sink < 100 ? 0.5 : 1));
    CHECK(m.dropped_mass[0] == 0);
    CHECK(m.dropped_mass[1] == 0.5f);
    CHECK(std::isfinite(m.attention_tv.value));
  }
}

TEST_CASE("mass that is kept beside a sink is that of the keys, however little the sink leaves") {
  for (const double sink : {0.0, 20.0, 60.0, 150.0}) {
    CAPTURE(sink);
    Problem problem = make_data(Data::gaussian, 24, 4, 3, true);
    change_rule(problem, [&](LogitRule& rule) { rule.sink = sink; });
    const Metrics m =
        metrics_of(problem, "fixed", {{"stride", "4"}, {"summary", "1"}, {"heads", "second"}});
    double kept = 0;
    for (Index i = 0; i < 24; ++i) {
      double all = 0, some = 0;
      for (Index j = 0; j <= i; ++j) {
        const double a = std::exp(problem.logit(i, j));
        all += a;
        if (j % 4 == 3) some += a;
      }
      kept += some / all / 24;
    }
    CHECK(m.mass_kept.value == doctest::Approx(kept).epsilon(1e-5));
  }
}

TEST_CASE("no share is above 1, though sums of float weights are") {
  for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u}) {
    const Problem problem = make_data(Data::gaussian, 65, 3, 2, false, 0, seed);
    // Most rows keep all of their keys.
    const Metrics m = metrics_of(problem, "longformer", {{"width", "31"}, {"globals", "2"}});
    CHECK(m.mass_kept.value <= 1);
    for (const float dropped : m.dropped_mass) CHECK(dropped >= 0);
    CHECK(m.attention_tv_max <= 1);
  }
}

TEST_CASE("both divergences are not defined where an approximate weight is negative") {
  const Metrics m =
      metrics_of(make_data(Data::gaussian, 40, 4, 3, false), "linformer", {{"rank", "6"}});
  CHECK(std::isnan(m.attention_kl.value));
  CHECK(m.attention_kl.infinite_rows == 0);
  CHECK_FALSE(m.attention_reverse_kl);
  const auto kl = std::ranges::find(measures(), "attention_kl", &Measure::id);
  CHECK(to_text(*kl, *kl->of({.metrics = &m})) == "–");
}

TEST_CASE("rows whose weights are equal within rounding are counted beside the recall") {
  Matrix q = gaussian(30, 3, 1), k = gaussian(30, 3, 2);
  for (Index i = 0; i < 12; ++i)
    for (Index c = 0; c < 3; ++c) q(i, c) *= 1e-8f;  // logits of 1e-8
  const Problem problem = make_problem(std::move(q), std::move(k), gaussian(30, 2, 3));
  const Metrics m = metrics_of(problem, "window", {{"width", "5"}});
  CHECK(m.rows_of_equal_weights == 12);
  const auto recall = std::ranges::find(measures(), "top8_recall", &Measure::id);
  CHECK(to_text(*recall, *recall->of({.metrics = &m})).ends_with(" by rounding in 12 rows"));
  CHECK(metrics_of(make_data(Data::gaussian, 30, 3, 2, false), "window", {{"width", "5"}})
            .rows_of_equal_weights == 0);
}

// Weights that are equal, of rows whose sum is not: the least number of fp16 as the bias of all
// pairs takes 1 / 250 of a weight, and a sink of 5.5 most digits of what it leaves.
TEST_CASE("rows of equal weights are counted where their sums are rounded, too") {
  Problem problem = make_problem(Matrix(22, 3), gaussian(22, 3, 2), gaussian(22, 2, 3));
  LogitRule rule;
  rule.bias = Matrix(22, 22);
  for (Index j = 0; j < 22; ++j)
    for (Index i = 0; i < 22; ++i) rule.bias(j, i) = -65504;
  problem.rule = std::make_shared<const LogitRule>(std::move(rule));
  CHECK(metrics_of(problem, "window", {{"width", "5"}}).rows_of_equal_weights == 22);
  Index counted = 0;
  for (int step = 0; step < 50; ++step) {  // sums are rounded in one or the other direction
    problem.rule =
        std::make_shared<const LogitRule>(LogitRule{.sink = 5.5 + static_cast<double>(step) / 20});
    counted += metrics_of(problem, "window", {{"width", "5"}}).rows_of_equal_weights;
  }
  CHECK(counted == 50 * 22);
  // A sink leaves one of two weights, 5e-35, and less than the least float of the other.
  Matrix q(2, 1), k(2, 1);
  q(0, 0) = q(1, 0) = k(0, 0) = 1;
  k(1, 0) = -30;
  Problem sunk = make_problem(std::move(q), std::move(k), gaussian(2, 1, 3));
  sunk.rule = std::make_shared<const LogitRule>(LogitRule{.sink = 80.0});
  CHECK(metrics_of(sunk, "window", {{"width", "0"}}).rows_of_equal_weights == 0);
}
