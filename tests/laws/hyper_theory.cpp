// HyperAttention in theory mode: what algorithms 2 and 3 promise, beyond the laws of all variants.
#include "laws/variants/hyper_theory.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "analysis/cost.h"
#include "data/error.h"
#include "laws/operator_cases.h"
#include "variants/row_sum_estimator.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Settings theory(std::string block, std::string samples, std::string epsilon, std::string kappa) {
  return {
      {"block", std::move(block)}, {"samples", std::move(samples)}, {"min_length", "0"},
      {"mode", "theory"},          {"epsilon", std::move(epsilon)}, {"kappa", std::move(kappa)}};
}

const RowEstimates& estimates_of(const Plan& plan) {
  return std::get<TilePlan>(plan.form).row_estimates;
}

Structure without(Structure structure, std::initializer_list<const char*> names) {
  for (const char* name : names) structure.erase(name);
  return structure;
}

std::string refusal(const Problem& problem, const Settings& settings, const Structure& given = {}) {
  try {
    make_plan(*backends().front(), problem, "hyper", settings, given);
  } catch (const Error& error) {
    return std::to_string(error.status()) + ": " + error.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("theory mode: row sums are those of algorithm 2, caps and floor counted") {
  for (const auto& backend : backends())
    for (const Data data : {Data::gaussian, Data::equal, Data::huge, Data::spike})
      for (const auto& [epsilon, kappa] : {std::pair{"1.5", "2"}, {"0.2", "50"}, {"1000", "1"}}) {
        const Problem problem = make_data(data, 150, 6, 3, false);
        const Instance x =
            make_instance(*backend, problem, "hyper", theory("70", "25", epsilon, kappa));
        const RowSumSteps<double> truth = row_sum_steps(0.0, x);
        const RowEstimates& ours = estimates_of(*x.plan);
        double worst = 0;
        for (std::size_t i = 0; i < truth.d.size(); ++i)
          worst = larger_error(worst, ours.log_sums[i] - truth.d[i]);
        CHECK(worst <= floor_of(problem));
        if (data == Data::equal) continue;  // everything is at its cap, or nothing, by a rounding
        CHECK(ours.floored == doctest::Approx(double(truth.floored) / double(truth.d.size())));
        CHECK(ours.capped == doctest::Approx(double(truth.capped) / double(truth.sampled)));
      }
}

TEST_CASE("theory mode: without caps and floor the row sums are those of practical mode") {
  const Problem problem = make_data(Data::gaussian, 130, 8, 4, false);
  for (const auto& backend : backends()) {
    const Instance x =
        make_instance(*backend, problem, "hyper", theory("16", "20", "1000", "1e12"));
    CHECK(estimates_of(*x.plan).capped == 0);
    const Instance practical = make_instance(
        *backend, problem, "hyper", {{"block", "16"}, {"samples", "20"}, {"min_length", "0"}},
        without(x.plan->structure, {"sampled_values", "tau_rows"}));
    const Output a = x.apply(problem.v), b = practical.apply(problem.v);
    for (std::size_t i = 0; i < a.lse.size(); ++i)
      CHECK(std::abs(double(a.lse[i]) - double(b.lse[i])) <= floor_of(problem));
  }
}

TEST_CASE("theory mode: over many seeds A S S^T V is A V, and the sums without caps those of A") {
  const Index n = 24, dv = 3, seeds = 4000;
  Problem problem = make_data(Data::gaussian, n, 4, dv, false);
  Matrix v = Matrix::copy_of(problem.v);
  for (Index c = 0; c < dv; ++c) {
    v(5, c) *= 6;  // drawn often
    v(7, c) = 0;   // and never
  }
  problem = make_problem(Matrix::copy_of(problem.q), Matrix::copy_of(problem.k), std::move(v));
  const Settings settings = theory("4", "6", "1000", "1e12");
  const Backend& backend = *backends().front();
  const Instance exact = make_instance(backend, problem, "exact", {});
  const Output truth = exact.apply(problem.v);
  const auto entries = static_cast<std::size_t>(n * dv), rows = static_cast<std::size_t>(n);
  std::vector<double> sum(entries), squares(entries), sums(rows), sum_squares(rows);
  Structure given;  // the blocks stay
  for (Index seed = 0; seed < seeds; ++seed) {
    const Instance x =
        make_instance(backend, problem, "hyper", settings, given, static_cast<std::uint64_t>(seed));
    if (seed == 0)
      given = without(x.plan->structure, {"sampled_keys", "sampled_values", "tau_rows"});
    CHECK(std::ranges::count(x.plan->structure.integers("sampled_values"), 7) == 0);
    const Output out = x.apply(problem.v);
    for (std::size_t i = 0; i < rows; ++i) {
      // d~_i / d_i, and the numerator relative to d_i.
      const double ratio = std::exp(double(out.lse[i]) - double(truth.lse[i]));
      sums[i] += ratio;
      sum_squares[i] += ratio * ratio;
      for (Index c = 0; c < dv; ++c) {
        const double z = double(out.z(static_cast<Index>(i), c)) * ratio;
        const std::size_t at = i * static_cast<std::size_t>(dv) + static_cast<std::size_t>(c);
        sum[at] += z;
        squares[at] += z * z;
      }
    }
  }
  const auto deviations = [&](double total, double total_squares, double expected) {
    const double count = static_cast<double>(seeds), mean = total / count,
                 variance = (total_squares / count - mean * mean) / (count - 1);
    return std::abs(mean - expected) / std::sqrt(variance + 1e-12);
  };
  double worst = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    worst = std::max(worst, deviations(sums[i], sum_squares[i], 1));
    for (Index c = 0; c < dv; ++c) {
      const std::size_t at = i * static_cast<std::size_t>(dv) + static_cast<std::size_t>(c);
      worst = std::max(worst,
                       deviations(sum[at], squares[at], double(truth.z(static_cast<Index>(i), c))));
    }
  }
  CHECK(worst <= 4.5);  // of 96 means: beyond it by chance in one of a thousand samples
}

TEST_CASE("theory mode: logits of ten thousand neither overflow nor vanish") {
  const Index n = 200;
  for (const auto& backend : backends())
    for (const float level : {-100.0f, 100.0f}) {
      Matrix q = gaussian(n, 5, 1), k = gaussian(n, 5, 2);
      for (Index i = 0; i < n; ++i) {
        q(i, 0) = 100;
        k(i, 0) = level;
      }
      const Problem problem = make_problem(std::move(q), std::move(k), gaussian(n, 4, 3), 1.0);
      const Instance x = make_instance(*backend, problem, "hyper", theory("16", "30", "2", "20"));
      const auto truth = reference<double>(x);
      CHECK(largest_logit(problem) > 9999);
      const auto z = times(truth, problem.v);
      const double mass = 200;  // a generous sum of a row
      CHECK(distance(x.apply(problem.v).z, rows_of(z, 4), n, 4) <=
            floor_of(problem) * mass * largest_entry(problem.v));
      CHECK(distance(x.all(), truth, n, n) <= floor_of(problem) * mass);
    }
  // Logits of both signs: entries may be beyond the range of a float, but none is NaN.
  Matrix q = gaussian(n, 3, 4), k = gaussian(n, 3, 5);
  for (Index i = 0; i < n; ++i) q(i, 0) = k(i, 0) = i % 3 == 0 ? 100 : -100;
  const Problem problem = make_problem(std::move(q), std::move(k), Matrix(n, 2), 1.0);
  for (const auto& backend : backends()) {
    const Instance x = make_instance(*backend, problem, "hyper", theory("16", "30", "1", "4"));
    const Output out = x.apply(problem.v);
    const Matrix p = x.all();
    for (Index i = 0; i < n; ++i) {
      CHECK(std::isfinite(out.lse[static_cast<std::size_t>(i)]));
      CHECK(out.z(i, 0) == 0);
      for (Index j = 0; j < n; ++j) CHECK_FALSE(std::isnan(p(i, j)));
    }
  }
}

TEST_CASE("theory mode: values of 0 are drawn uniformly and give an output of 0") {
  const Problem some = make_data(Data::gaussian, 64, 4, 3, false);
  const Problem problem =
      make_problem(Matrix::copy_of(some.q), Matrix::copy_of(some.k), Matrix(64, 3), some.scale);
  const Instance x =
      make_instance(*backends().front(), problem, "hyper", theory("8", "40", "1", "10"));
  const Output out = x.apply(problem.v);
  CHECK(largest_entry(out.z) == 0);
  const auto& drawn = x.plan->structure.integers("sampled_values");
  REQUIRE(drawn.size() == 40);
  std::vector<std::int32_t> distinct = drawn;
  std::ranges::sort(distinct);
  distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
  CHECK(distinct.size() > 20);
  for (const float weight : std::get<TilePlan>(x.plan->form).passes.front().weight)
    CHECK(weight == doctest::Approx(std::round(weight / 1.6f) * 1.6f));  // c_j 64 / 40
}

TEST_CASE("theory mode: rows for tau are a subset, all of them where there are enough samples") {
  const Problem problem = make_data(Data::gaussian, 30, 4, 3, false);
  const auto rows = [&](const char* samples) {
    return make_plan(*backends().front(), problem, "hyper", theory("4", samples, "1", "10"))
        ->structure.integers("tau_rows");
  };
  CHECK(rows("7").size() == 7);
  const std::vector<std::int32_t> all = rows("50");
  REQUIRE(all.size() == 30);
  for (std::int32_t i = 0; i < 30; ++i) CHECK(all[static_cast<std::size_t>(i)] == i);
}

TEST_CASE("theory mode: what it cannot do is refused, with what to set") {
  const Problem problem = make_data(Data::gaussian, 8, 2, 1, false),
                causal = make_data(Data::gaussian, 8, 2, 1, true);
  const Settings settings = theory("2", "3", "1", "10");
  CHECK(refusal(causal, settings) ==
        "2: mode is 'theory', which has no causal form; expected mode = practical, or a head "
        "without a causal mask");
  CHECK(refusal(problem, theory("2", "3", "0", "10")).starts_with("2: epsilon is '0'; expected"));
  CHECK(refusal(problem, theory("2", "3", "1", "0.5")).starts_with("2: kappa is '0.5'; expected"));
  const auto given = [&](const char* name, std::vector<std::int32_t> tokens) {
    Structure structure;
    structure.set(name, std::move(tokens));
    return refusal(problem, settings, structure);
  };
  CHECK(given("tau_rows", {0, 8}) == "3: tau_rows: 8; expected a token in [0, 8)");
  CHECK(given("sampled_values", {-1}) == "3: sampled_values: -1; expected a token in [0, 8)");
  CHECK(given("sampled_values", {1, 1, 2}) == "no error");
  Matrix v = Matrix::copy_of(problem.v);
  v(2, 0) = 0;
  const Problem zero =
      make_problem(Matrix::copy_of(problem.q), Matrix::copy_of(problem.k), std::move(v));
  Structure structure;
  structure.set("sampled_values", std::vector{1, 2});
  CHECK(refusal(zero, settings, structure) ==
        "3: sampled_values: 2, whose value is 0; expected keys with a value that can be drawn");
}

TEST_CASE("theory mode: short heads and one block are exact, and only else a note tells of sums") {
  const Problem problem = make_data(Data::gaussian, 64, 4, 2, false);
  const Instance exact = make_instance(*backends().front(), problem, "exact", {});
  const auto check_exact = [&](const Settings& settings, const std::string& note) {
    const Instance x = make_instance(*backends().front(), problem, "hyper", settings);
    REQUIRE(x.plan->notes.size() == 1);
    CHECK(x.plan->notes.front() == note);
    CHECK(estimates_of(*x.plan).empty());
    CHECK(distance(x.all(), exact.all(), 64, 64) == 0);
  };
  check_exact({{"mode", "theory"}}, "not longer than “Exact below”: computed exactly");
  check_exact(theory("64", "4", "1", "10"), "one block holds all tokens: computed exactly");
  const auto plan = make_plan(*backends().front(), problem, "hyper", theory("8", "4", "1", "10"));
  REQUIRE(plan->notes.size() == 1);
  CHECK(plan->notes.front().find("need not sum to 1") != std::string::npos);
  CHECK(find_variant("hyper").other_sums_with == "mode = theory");
}

TEST_CASE("theory mode: its cost is that of the entries that it sums") {
  const Index n = 300, d = 8, dv = 4, block = 100, samples = 30;
  const Problem problem = make_data(Data::gaussian, n, d, dv, false);
  const auto plan =
      make_plan(*backends().front(), problem, "hyper", theory("100", "30", "1", "10"));
  const auto distinct = [&](const char* name) {
    std::vector<std::int32_t> keys = plan->structure.integers(name);
    std::ranges::sort(keys);
    return static_cast<double>(std::unique(keys.begin(), keys.end()) - keys.begin());
  };
  // A sampled key is outside the blocks of all queries but those of its own block.
  const double blocks = 3.0 * block * block,
               logits = blocks + static_cast<double>(n - block) * distinct("sampled_keys") +
                        static_cast<double>(samples * (n - block));
  const double hashing = 2.0 * n * d * 7, norms = static_cast<double>(n * dv),
               values = static_cast<double>(n) * distinct("sampled_values");
  CHECK(count_cost(*plan, d, dv).multiply_adds == hashing + logits * d + norms + values * (d + dv));
}

TEST_CASE("theory mode: row sums stop when asked to, and are stages of their own") {
  const Problem problem = make_data(Data::gaussian, 100, 4, 2, false);
  const Values values = values_of(find_variant("hyper"), theory("10", "20", "1", "10"));
  Profile profile;
  Run run{profile};
  Planning planning{*backends().front(), run, 0, {}};
  const Plan plan = find_variant("hyper").plan(problem, values, planning);
  for (const char* stage : {"hash", "sort", "sample", "row sums", "tau"})
    CHECK(std::ranges::count(profile.stages(), stage, &StageTime::name) == 1);
  std::stop_source stop;
  stop.request_stop();
  Run stopped{profile, stop.get_token()};
  Planning of_stopped{*backends().front(), stopped, 0, {}};
  const Structure& s = plan.structure;
  CHECK_THROWS_AS(estimate_row_sums(problem,
                                    {.query_order = s.integers("query_order"),
                                     .key_order = s.integers("key_order"),
                                     .block = 10,
                                     .keys = s.integers("sampled_keys"),
                                     .rows = s.integers("tau_rows")},
                                    of_stopped),
                  Cancelled);
}
