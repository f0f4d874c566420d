// The figures of HyperAttention's analysis, in both modes, against dense matrices in float64.
#include "analysis/sampling_figures.h"

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "allocations.h"
#include "analysis/column_squares.h"
#include "analysis/spectrum.h"
#include "harness.h"
#include "jacobi_values.h"
#include "laws/conditions.h"
#include "laws/variants/hyper_theory.h"
#include "reference.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Eigen::MatrixXd;

Settings settings_of(const char* mode, const char* epsilon = "1", const char* kappa = "100") {
  return {{"block", "12"}, {"samples", "20"},    {"min_length", "0"},
          {"mode", mode},  {"epsilon", epsilon}, {"kappa", kappa}};
}

std::map<std::string, Diagnostic> figures_of(const Instance& x) {
  const Instance exact = make_instance(*backends().front(), x.problem, "exact", {});
  Profile profile;
  Run run{profile};
  const Output approximate = x.apply(x.problem.v), reference = exact.apply(x.problem.v);
  std::map<std::string, Diagnostic> figures;
  for (Diagnostic& d : sampling_figures(
           {*x.bound, approximate, *exact.bound, reference, *backends().front()}, run)) {
    CHECK_FALSE(d.meaning.empty());
    figures[d.id] = std::move(d);
  }
  return figures;
}

MatrixXd dense(const Dense<double>& m) {
  MatrixXd out(m.n, m.n);
  for (Index i = 0; i < m.n; ++i)
    for (Index j = 0; j < m.n; ++j) out(i, j) = m(i, j);
  return out;
}

MatrixXd dense(MatrixView m) {
  MatrixXd out(m.rows, m.cols);
  for (Index i = 0; i < m.rows; ++i)
    for (Index j = 0; j < m.cols; ++j) out(i, j) = double(m(i, j));
  return out;
}

double norm_of(const MatrixXd& m) {
  return jacobi_values<double>(m.rows(), m.cols(), [&](Index i, Index j) { return m(i, j); })[0];
}

}  // namespace

TEST_CASE("figures of sampling: both modes agree with dense matrices") {
  for (const Data data : {Data::gaussian, Data::spike})
    for (const char* mode : {"practical", "theory"}) {
      CAPTURE(mode);
      const Problem problem = make_data(data, 90, 6, 4, false);
      const Instance x = make_instance(*backends().front(), problem, "hyper", settings_of(mode));
      const Instance exact = make_instance(*backends().front(), problem, "exact", {});
      auto figures = figures_of(x);
      const MatrixXd p = dense(reference<double>(exact)), q = dense(reference<double>(x)),
                     v = dense(problem.v);
      const auto near = [](double value) { return doctest::Approx(value).epsilon(2e-5); };
      const double norm = norm_of(p);
      CHECK(figures.at("alpha").value == near(90 * p.array().square().colwise().sum().maxCoeff()));
      CHECK(figures.at("column_norm").value == near(figures.at("alpha").value / 90));
      CHECK(figures.at("stable_rank").value == near(p.squaredNorm() / (norm * norm)));
      CHECK(figures.at("operator_error").value ==
            doctest::Approx(norm_of(q - p) / norm).epsilon(1e-3));
      CHECK(figures.at("spectral_epsilon").value ==
            near(norm_of((q - p) * v) / (norm * norm_of(v))));

      const auto place = [&](const char* order) {
        std::vector<Index> block(90);
        for (std::size_t at = 0; at < 90; ++at)
          block[static_cast<std::size_t>(x.plan->structure.integers(order)[at])] = Index(at) / 12;
        return block;
      };
      const auto of_query = place("query_order"), of_key = place("key_order");
      const auto s = fine_logits<double>(problem);
      double mass = 0, least = 1e300, most = 0, sums = 0;
      MatrixXd rows_of_sums = p, rows_of_values = q;  // of Eq. 2 and 3
      const bool theory = std::string(mode) == "theory";
      const std::vector<double> log_d = theory ? row_sum_steps(0.0, x).d : std::vector<double>();
      std::map<Index, double> times;
      for (const std::int32_t j : x.plan->structure.integers("sampled_keys")) ++times[j];
      for (Index i = 0; i < 90; ++i) {
        double inside = 0, outside = 0, sampled = 0;
        for (Index j = 0; j < 90; ++j) {
          const double a = std::exp(s(i, j));
          const bool meet =
              of_query[static_cast<std::size_t>(i)] == of_key[static_cast<std::size_t>(j)];
          (meet ? inside : outside) += a;
          if (!meet) sampled += times[j] * 90 / 20 * a;
        }
        mass += inside / (inside + outside) / 90;
        least = std::min(least, outside);
        most = std::max(most, outside);
        const double estimate =
            theory ? std::exp(log_d[static_cast<std::size_t>(i)]) : inside + sampled;
        sums += std::abs(estimate / (inside + outside) - 1) / 90;
        const double factor = (inside + outside) / estimate;
        rows_of_sums.row(i) *= factor - 1;
        rows_of_values.row(i) -= factor * p.row(i);
      }
      CHECK(figures.at("row_sum_epsilon").value == near(norm_of(rows_of_sums) / norm));
      CHECK(figures.at("value_epsilon").value ==
            near(norm_of(rows_of_values * v) / (norm * norm_of(v))));
      CHECK(figures.at("spectral_epsilon").value <=
            1.0001 * (figures.at("row_sum_epsilon").value + figures.at("value_epsilon").value));
      // kappa is within 2e-5 of itself, and its seventh power within seven times as much.
      CHECK(figures.at("lemma_1_samples").value ==
            doctest::Approx(std::pow(most / least, 7) * std::pow(figures.at("alpha").value, 2))
                .epsilon(2e-4));
      CHECK(figures.at("lemma_2_samples").value == near(4 * figures.at("stable_rank").value));
      for (const char* id : {"lemma_1_samples", "lemma_2_samples"})
        CHECK(figures.at(id).meaning.ends_with("The plan draws m = 20."));
      CHECK(figures.at("block_mass").value == near(mass));
      CHECK(figures.at("kappa").value == near(most / least));
      CHECK(figures.at("row_sum_error").value == near(sums));
      CHECK(figures.contains("floored_rows") == theory);
      for (const auto& [id, figure] : figures) CHECK_FALSE((figure.sampled || figure.left_out));
    }
}

TEST_CASE("figures of sampling: kappa is finite where weights outside the blocks underflow") {
  Problem problem = make_data(Data::gaussian, 90, 6, 4, false);
  problem.scale *= 25;
  const Instance x = make_instance(*backends().front(), problem, "hyper", settings_of("practical"));
  std::vector<Index> block_of_query(90), block_of_key(90);
  for (std::size_t at = 0; at < 90; ++at) {
    const auto place = [&](const char* order) {
      return static_cast<std::size_t>(x.plan->structure.integers(order)[at]);
    };
    block_of_query[place("query_order")] = block_of_key[place("key_order")] = Index(at) / 12;
  }
  double least = 1e300, most = -1e300;
  for (Index i = 0; i < 90; ++i) {
    double top = -1e300, sum = 0;
    const auto for_outside = [&](auto take) {
      for (Index j = 0; j < 90; ++j)
        if (block_of_query[static_cast<std::size_t>(i)] !=
            block_of_key[static_cast<std::size_t>(j)])
          take(problem.logit(i, j));
    };
    for_outside([&](double logit) { top = std::max(top, logit); });
    for_outside([&](double logit) { sum += std::exp(logit - top); });
    least = std::min(least, top + std::log(sum));
    most = std::max(most, top + std::log(sum));
  }
  REQUIRE(most - least < 600);
  REQUIRE(most - least > 50);
  CHECK(std::log(figures_of(x).at("kappa").value) == doctest::Approx(most - least).epsilon(1e-4));
}

TEST_CASE("figures of sampling: a row without keys has no say in any of them") {
  Problem problem = make_data(Data::gaussian, 90, 6, 4, false);
  BitMatrix pairs(90, 90);
  for (Index i = 0; i < 90; ++i)
    for (Index j = 0; j < 90; ++j)
      if (i != 5) pairs.set(i, j);
  problem.mask = std::make_shared<const PairMask>(std::vector<std::int32_t>(),
                                                  std::vector<std::int32_t>(), std::move(pairs));
  auto figures =
      figures_of(make_instance(*backends().front(), problem, "hyper", settings_of("practical")));
  for (const char* id : {"block_mass", "row_sum_error", "kappa"}) {
    CAPTURE(id);
    CHECK(std::isfinite(figures.at(id).value));
    CHECK(figures.at(id).value > 0);
  }
  CHECK(figures.at("block_mass").value < 1);
}

TEST_CASE("figures of sampling: ratios of rows are not defined where none has a key") {
  Problem problem = make_data(Data::gaussian, 90, 6, 4, false);
  problem.mask = std::make_shared<const PairMask>(std::vector<std::int32_t>(),
                                                  std::vector<std::int32_t>(), BitMatrix(90, 90));
  auto figures =
      figures_of(make_instance(*backends().front(), problem, "hyper", settings_of("practical")));
  for (const char* id : {"kappa", "lemma_1_samples", "block_mass", "row_sum_error"}) {
    CAPTURE(id);
    CHECK(std::isnan(figures.at(id).value));
  }
}

TEST_CASE("figures of sampling: a row whose keys are all left out makes the errors infinite") {
  // Query 5 may attend one key alone, which is in another block and is not sampled.
  Problem problem = make_data(Data::gaussian, 90, 6, 4, false);
  const Instance open =
      make_instance(*backends().front(), problem, "hyper", settings_of("practical"));
  const auto at = [&](const char* order, Index token) {
    const std::vector<std::int32_t>& tokens = open.plan->structure.integers(order);
    return (std::ranges::find(tokens, token) - tokens.begin()) / 12;
  };
  const auto& sampled = open.plan->structure.integers("sampled_keys");
  Index key = 0;
  while (at("query_order", 5) == at("key_order", key) ||
         std::ranges::find(sampled, key) != sampled.end())
    ++key;
  BitMatrix pairs(90, 90);
  for (Index i = 0; i < 90; ++i)
    for (Index j = 0; j < 90; ++j)
      if (i != 5 || j == key) pairs.set(i, j);
  set_mask(problem, {}, {}, std::move(pairs));
  auto figures =
      figures_of(make_instance(*backends().front(), problem, "hyper", settings_of("practical")));
  CHECK(figures.at("row_sum_epsilon").value == std::numeric_limits<double>::infinity());
  CHECK(figures.at("value_epsilon").value == std::numeric_limits<double>::infinity());
  CHECK(std::isfinite(figures.at("spectral_epsilon").value));
}

TEST_CASE("figures of sampling: shares of rows at the floor and of entries at their cap") {
  const Problem problem = make_data(Data::gaussian, 90, 6, 4, false);
  for (const auto& [epsilon, kappa] : {std::pair{"1.5", "2"}, {"0.01", "1"}, {"1000", "1e12"}}) {
    const Instance x =
        make_instance(*backends().front(), problem, "hyper", settings_of("theory", epsilon, kappa));
    auto figures = figures_of(x);
    const RowSumSteps<double> steps = row_sum_steps(0.0, x);
    CHECK(figures.at("floored_rows").value == doctest::Approx(double(steps.floored) / 90));
    CHECK(figures.at("capped_entries").value ==
          doctest::Approx(double(steps.capped) / double(steps.sampled)));
  }
}

TEST_CASE("figures of sampling: of a row without keys beside a sink neither") {
  // Query 5 has the weight of the sink alone, whose logarithm is its lse.
  for (const double sink : {1.0, 1.567951}) {
    Problem problem = make_data(Data::gaussian, 90, 6, 4, false);
    BitMatrix pairs(90, 90);
    for (Index i = 0; i < 90; ++i)
      for (Index j = 0; j < 90; ++j)
        if (i != 5) pairs.set(i, j);
    set_mask(problem, {}, {}, std::move(pairs));
    change_rule(problem, [&](LogitRule& rule) { rule.sink = sink; });
    const Instance x =
        make_instance(*backends().front(), problem, "hyper", settings_of("practical"));
    const Instance exact = make_instance(*backends().front(), problem, "exact", {});
    auto figures = figures_of(x);
    const Output approximate = x.apply(problem.v), reference = exact.apply(problem.v);
    double sum = 0;
    for (std::size_t i = 0; i < 90; ++i)
      if (i != 5)
        sum += std::abs(std::expm1(double(approximate.lse[i]) - double(reference.lse[i]))) / 89;
    CHECK(figures.at("row_sum_error").value == doctest::Approx(sum).epsilon(1e-9));
    CHECK(std::isfinite(figures.at("kappa").value));
  }
}

TEST_CASE("figures of sampling: those of long heads are of all rows, but for norms") {
  for (const Data data : {Data::gaussian, Data::spike}) {
    const Problem problem = make_data(data, 90, 6, 4, false);
    const Instance x =
        make_instance(*backends().front(), problem, "hyper", settings_of("practical"));
    const Instance exact = make_instance(*backends().front(), problem, "exact", {});
    Profile profile;
    Run run{profile};
    const Output approximate = x.apply(problem.v), reference = exact.apply(problem.v);
    auto all = figures_of(x);
    for (const Diagnostic& d : sampling_figures(
             {*x.bound, approximate, *exact.bound, reference, *backends().front()}, run, 30 * 90)) {
      CAPTURE(d.id);
      const bool spectral = d.id == "stable_rank" || d.id == "operator_error" ||
                            d.id == "lemma_2_samples" || d.id == "spectral_epsilon" ||
                            d.id == "row_sum_epsilon" || d.id == "value_epsilon";
      CHECK_FALSE(d.sampled);
      CHECK(d.left_out == spectral);
      CHECK(std::isnan(d.value) == spectral);
      CHECK((to_text(d) == "left out") == spectral);
      CHECK((d.meaning.find("Left out: it needs every row") != std::string::npos) == spectral);
      if (!spectral) CHECK(d.value == all.at(d.id).value);
    }
  }
}

TEST_CASE("the squares of columns are those of P under every condition") {
  for (const ConditionCase& condition : condition_cases())
    for (const bool causal : {false, true}) {
      CAPTURE(condition.name);
      Problem problem = make_data(Data::gaussian, 53, 6, 2, causal);
      condition.apply(problem);
      const Instance exact = make_instance(*backends().front(), problem, "exact", {});
      const Dense<double> p = reference<double>(exact);
      Profile profile;
      Run run{profile};
      const auto squares =
          column_squares(problem, exact.apply(problem.v).lse, *backends().front(), run);
      REQUIRE(squares.size() == 53);
      for (Index j = 0; j < 53; ++j) {
        double sum = 0;
        for (Index i = 0; i < 53; ++i) sum += p(i, j) * p(i, j);
        // Logits up to 20 in float32, twice each: 2 * 20 * 2^-23.
        CHECK(squares[static_cast<std::size_t>(j)] == doctest::Approx(sum).epsilon(1e-5));
      }
    }
}

TEST_CASE("figures of sampling: values that are not finite make no epsilon 0") {
  Problem problem = make_data(Data::gaussian, 40, 4, 3, false);
  auto v = std::make_shared<Matrix>(40, 3, 1.0f);
  (*v)(7, 1) = std::numeric_limits<float>::quiet_NaN();
  problem.v = v->view();
  problem.owner = std::make_shared<std::pair<std::shared_ptr<const void>, std::shared_ptr<Matrix>>>(
      problem.owner, v);
  const Instance x = make_instance(*backends().front(), problem, "hyper", settings_of("practical"));
  CHECK(std::isnan(figures_of(x).at("spectral_epsilon").value));
}

TEST_CASE("the operator norm of a difference is that of the matrix, also where it is 0 or signed") {
  Profile profile;
  Run run{profile};
  for (const Index n : {1, 7, 130}) {
    const Problem problem = make_data(Data::gaussian, n, 3, 2, false);
    const Instance exact = make_instance(*backends().front(), problem, "exact", {});
    CHECK(difference_norm(*exact.bound, *exact.bound, run) == 0);
    const Instance x = make_instance(*backends().front(), problem, "window", {{"width", "3"}});
    const double expected = norm_of(dense(x.all()) - dense(exact.all()));
    CHECK(difference_norm(*x.bound, *exact.bound, run) == doctest::Approx(expected).epsilon(1e-3));
  }
  std::stop_source stop;
  stop.request_stop();
  Run stopped{profile, stop.get_token()};
  const Problem problem = make_data(Data::gaussian, 40, 3, 2, false);
  const Instance exact = make_instance(*backends().front(), problem, "exact", {});
  CHECK_THROWS_AS(difference_norm(*exact.bound, *exact.bound, stopped), Cancelled);
}

TEST_CASE("theory mode takes memory of n, not of n x n") {
  const Problem problem = make_data(Data::gaussian, 4096, 8, 8, false);
  largest_allocation();
  const Instance x = make_instance(*backends().front(), problem, "hyper",
                                   {{"block", "64"}, {"samples", "64"}, {"mode", "theory"}});
  x.apply(problem.v);
  CHECK_FALSE(std::get<TilePlan>(x.plan->form).row_estimates.empty());
  CHECK(largest_allocation() <= 2 << 20);  // P has 64 MiB
}
