#include "variants/hyper_theory.h"

#include <algorithm>
#include <cmath>

#include "data/draw_purpose.h"
#include "data/error.h"
#include "data/random.h"
#include "variants/row_sum_estimator.h"

namespace fovea {
namespace {

void check_tokens(const std::vector<std::int32_t>& tokens, Index n, const std::string& name) {
  for (const std::int32_t token : tokens)
    if (token < 0 || token >= n)
      throw InputError(
          name, std::to_string(token) + "; expected a token in [0, " + std::to_string(n) + ")");
}

// [n] p_j = |v_j|^2 / |V|_F^2.
std::vector<double> value_probabilities(MatrixView v) {
  std::vector<double> p;
  double all = 0;
  for (Index j = 0; j < v.rows; ++j) {
    double squares = 0;
    for (Index c = 0; c < v.cols; ++c)
      squares += static_cast<double>(v(j, c)) * static_cast<double>(v(j, c));
    p.push_back(squares);
    all += squares;
  }
  for (double& x : p) x = all > 0 ? x / all : 1 / static_cast<double>(v.rows);
  return p;
}

std::vector<std::int32_t> draw_by(const std::vector<double>& p, Index count, Random random) {
  std::vector<double> running;
  double sum = 0;
  for (const double x : p) running.push_back(sum += x);
  // The first key at which the sum is reached: never one of probability 0.
  const auto last = std::ranges::lower_bound(running, sum) - running.begin();
  std::vector<std::int32_t> drawn;
  for (Index k = 0; k < count; ++k) {
    const auto at = std::ranges::upper_bound(running, random.uniform() * sum) - running.begin();
    drawn.push_back(static_cast<std::int32_t>(std::min(at, last)));
  }
  return drawn;
}

// A S S^T: all queries, and the keys that were drawn, each weighted by c_j / (m p_j).
Pass value_pass(Index n, const std::vector<std::int32_t>& drawn, const std::vector<double>& p) {
  Pass pass;
  std::vector<std::int32_t> sorted = drawn;
  std::ranges::sort(sorted);
  for (std::size_t at = 0; at < sorted.size();) {
    const std::size_t begin = at;
    while (at < sorted.size() && sorted[at] == sorted[begin]) ++at;
    const std::int32_t key = sorted[begin];
    const double draws = static_cast<double>(sorted.size());
    const auto weight = static_cast<float>(static_cast<double>(at - begin) /
                                           (draws * p[static_cast<std::size_t>(key)]));
    if (!std::isfinite(weight))
      throw InputError("sampled_values", std::to_string(key) +
                                             ", whose value is 0; expected keys with a value "
                                             "that can be drawn");
    pass.cols.push_back(key);
    pass.weight.push_back(weight);
  }
  pass.tiles.push_back({{0, n}, {0, std::ssize(pass.cols)}, {}});
  return pass;
}

}  // namespace

void plan_hyper_theory(const Problem& problem, const HyperTheory& theory, Planning& planning,
                       Plan& plan) {
  const Index n = problem.n();
  plan_sampled_blocks(problem, theory.sizes, {{{{0, n}, {0, n}}}}, {}, planning, plan);
  auto& tiles = std::get<TilePlan>(plan.form);
  const Pass blocks = std::move(tiles.passes.front());
  tiles.passes.clear();

  std::vector<std::int32_t> values = planning.integers("sampled_values", {"m"}),
                            rows = planning.integers("tau_rows", {"t"});
  check_tokens(values, n, "sampled_values");
  check_tokens(rows, n, "tau_rows");
  {
    const auto stage = planning.run.profile.stage("sample");
    const std::vector<double> p = value_probabilities(problem.v);
    const auto random = [&](DrawPurpose purpose) {
      return Random(planning.seed, stream_of(purpose, problem.head));
    };
    if (values.empty())
      values = draw_by(p, theory.sizes.samples, random(DrawPurpose::drawn_values));
    if (rows.empty()) rows = draw_subset(n, theory.sizes.samples, random(DrawPurpose::drawn_rows));
    tiles.passes.push_back(value_pass(n, values, p));
  }

  EstimatedSums sums = estimate_row_sums(problem,
                                         {.query_order = plan.structure.integers("query_order"),
                                          .key_order = plan.structure.integers("key_order"),
                                          .block = theory.sizes.block,
                                          .keys = plan.structure.integers("sampled_keys"),
                                          .rows = rows,
                                          .epsilon = theory.epsilon,
                                          .kappa = theory.kappa},
                                         planning);
  tiles.row_estimates = std::move(sums.estimates);
  tiles.row_estimates.exactly.push_back(blocks);
  plan.planning_multiply_adds += sums.multiply_adds + static_cast<double>(n * problem.dv());
  plan.samples = "sampled_values";
  plan.structure.set("sampled_values", std::move(values));
  plan.structure.set("tau_rows", std::move(rows));
  plan.notes.push_back(
      "theory mode: rows of P are divided by estimates of their sums, and need "
      "not sum to 1");
}

std::vector<TensorField> hyper_theory_tensors() {
  return {{.name = "sampled_values",
           .shapes = {{"m"}},
           .meaning = "Theory mode: keys as they were drawn by the norms of their values."},
          {.name = "tau_rows",
           .shapes = {{"t"}},
           .meaning = "Theory mode: queries whose sums outside the blocks give tau."}};
}

}  // namespace fovea
