// SnapKV: after the prompt, a cache keeps the keys that the prompt's last queries attend most.
#include <algorithm>
#include <vector>

#include "analysis/eviction_figures.h"
#include "variants/cache.h"
#include "variants/dot_products.h"

namespace fovea {
namespace {

struct SnapkvParameters {
  Index budget = 1024, window = 64, reach = 3;
  double prompt = .5;

  static std::vector<TypedField<SnapkvParameters>> fields() {
    using P = SnapkvParameters;
    auto window =
        size_field<P>("window", "Window w", "queries", &P::window, 1, 131072,
                      "The last queries of the prompt, whose attention decides and whose "
                      "keys stay.",
                      [](Index n) { return std::max<Index>(1, short_size(n, 1024) / 4); });
    window.field.span = {};
    return {prompt_budget_field<P>(&P::budget), window,
            int_field("reach", "Pooling", "keys", &P::reach, 0, 1024, Axis::linear,
                      "Keys on each side over which the attention to a key is averaged: 3 is a "
                      "kernel of 7."),
            prompt_field<P>(&P::prompt)};
  }
};

/// Means over `reach` numbers to each side, of which those outside count as 0.
std::vector<double> pooled(const std::vector<double>& score, Index reach) {
  const Index n = std::ssize(score);
  std::vector<double> out(score.size());
  for (Index j = 0; j < n; ++j) {
    double& mean = out[static_cast<std::size_t>(j)];
    for (Index at = std::max<Index>(0, j - reach); at < std::min(n, j + reach + 1); ++at)
      mean += score[static_cast<std::size_t>(at)];
    mean /= static_cast<double>(2 * reach + 1);
  }
  return out;
}

/// Attention of the last queries of the prompt to the keys before them, [keys]. Adds the pairs that
/// they attend.
std::vector<double> attention_of_window(const Problem& problem, IndexRange window,
                                        Planning& planning, double& pairs) {
  std::vector<double> score(static_cast<std::size_t>(window.begin));
  std::vector<double> row(static_cast<std::size_t>(window.end));
  for (Index i = window.begin; i < window.end; ++i) {
    planning.run.check();
    exact_weights(problem, {i, i + 1}, {0, window.end}, row.data());
    for (std::size_t j = 0; j < score.size(); ++j) score[j] += row[j];
    for (Index j = 0; j < window.end; ++j) pairs += problem.admits(i, j);
  }
  return score;
}

Evictions evictions_of(const Problem& problem, const SnapkvParameters& p, Planning& planning,
                       double& pairs) {
  const auto stage = planning.run.profile.stage("select");
  const Index n = problem.n(), prompt = tokens_of_prompt(p.prompt, n);
  const IndexRange window{std::max<Index>(0, prompt - p.window), prompt};
  if (p.budget >= prompt) return Evictions(n, static_cast<std::int32_t>(n));
  std::vector<double> score =
      pooled(attention_of_window(problem, window, planning, pairs), p.reach);
  // A budget below the window keeps its last keys.
  const Index first = std::max(window.begin, window.end - p.budget);
  score.resize(static_cast<std::size_t>(first), -1);
  return evicted_after_prompt(n, prompt, {0, first}, score, p.budget - window.size());
}

Plan plan_snapkv(const Problem& problem, const SnapkvParameters& p, Planning& planning) {
  Evictions evicted = given_evictions(planning, problem.n());
  double pairs = 0;  // whose weights decide
  if (evicted.empty()) evicted = evictions_of(problem, p, planning, pairs);
  Plan plan = plan_of_cache(problem, std::move(evicted), planning);
  plan.planning_multiply_adds = pairs * static_cast<double>(problem.d());
  return plan;
}

}  // namespace

Variant snapkv_variant() {
  return make_variant<SnapkvParameters>(
      {.id = "snapkv",
       .label = "SnapKV",
       .paper = "Li et al. 2024 (SnapKV), section 4 and listing 1",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over C for i ≥ prompt,  C: w last and top keys of Σ Pᵢⱼ "
                  "over the window, pooled",
       .summary =
           "After the prompt, the keys that its last queries attend most, and all later ones.",
       .mask = Mask::causal_only,
       .group = Group::selectors,
       .structure = cache_tensors(),
       .diagnostics = {eviction_figures},
       .is_exact = budget_holds_all},
      plan_snapkv);
}

}  // namespace fovea
