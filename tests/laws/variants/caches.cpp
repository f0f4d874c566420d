// Caches that evict keys straight from their definitions, in float64, one step after another.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "laws/formulas.h"

namespace fovea::test {
namespace {

/// The first query that no longer attends each key.
using EvictedAt = std::vector<Index>;

std::vector<double> weights_of(const Problem& problem, Index i, const std::vector<Index>& keys) {
  std::vector<double> weights;
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const Index j : keys)
    if (sees(problem, i, j)) largest = std::max(largest, problem.logit(i, j));
  for (const Index j : keys)
    weights.push_back(sees(problem, i, j) ? std::exp(problem.logit(i, j) - largest) : 0);
  for (const double w : weights) sum += w;
  if (sum > 0)
    for (double& w : weights) w /= sum;
  return weights;
}

EvictedAt h2o_evictions(const Instance& x) {
  const Parameters p{x};
  const Index n = x.problem.n(), budget = p.integer("budget"),
              recent = static_cast<Index>(p.real("recent") * static_cast<double>(budget));
  EvictedAt evicted(static_cast<std::size_t>(n), n);
  std::vector<double> attention(static_cast<std::size_t>(n));
  std::vector<Index> cache;
  for (Index t = 0; t < n; ++t) {
    cache.push_back(t);
    const std::vector<double> weights = weights_of(x.problem, t, cache);
    for (std::size_t c = 0; c < cache.size(); ++c)
      attention[static_cast<std::size_t>(cache[c])] += weights[c];
    if (std::ssize(cache) <= budget) continue;
    Index least = -1;
    for (std::size_t c = 0; c < cache.size(); ++c)
      if (std::ssize(cache) - static_cast<Index>(c) > std::min(recent, std::ssize(cache) - 1) &&
          (least < 0 || attention[static_cast<std::size_t>(cache[c])] <
                            attention[static_cast<std::size_t>(least)]))
        least = cache[c];
    evicted[static_cast<std::size_t>(least)] = t + 1;
    std::erase(cache, least);
  }
  return evicted;
}

EvictedAt snapkv_evictions(const Instance& x) {
  const Parameters p{x};
  const Index n = x.problem.n(), budget = p.integer("budget"), reach = p.integer("reach"),
              prompt = std::lround(p.real("prompt") * static_cast<double>(n)),
              begin = std::max<Index>(0, prompt - p.integer("window"));
  EvictedAt evicted(static_cast<std::size_t>(n), n);
  if (budget >= prompt) return evicted;
  std::vector<Index> all(static_cast<std::size_t>(prompt));
  std::iota(all.begin(), all.end(), Index{0});
  std::vector<double> score(static_cast<std::size_t>(begin)), mean(score.size());
  for (Index i = begin; i < prompt; ++i) {
    const std::vector<double> weights = weights_of(x.problem, i, all);
    for (std::size_t j = 0; j < score.size(); ++j) score[j] += weights[j];
  }
  for (Index j = 0; j < begin; ++j)
    for (Index o = -reach; o <= reach; ++o)
      if (j + o >= 0 && j + o < begin)
        mean[static_cast<std::size_t>(j)] +=
            score[static_cast<std::size_t>(j + o)] / static_cast<double>(2 * reach + 1);
  std::vector<Index> order(score.size());
  std::iota(order.begin(), order.end(), Index{0});
  std::ranges::stable_sort(order, [&](Index a, Index b) {
    return mean[static_cast<std::size_t>(a)] > mean[static_cast<std::size_t>(b)];
  });
  const Index heavy = std::max<Index>(0, budget - (prompt - begin));
  for (Index j = 0; j < prompt; ++j) {
    const bool is_last = j >= std::max(begin, prompt - budget);
    const auto rank = std::ranges::find(order, j) - order.begin();
    if (!is_last && (j >= begin || rank >= heavy)) evicted[static_cast<std::size_t>(j)] = prompt;
  }
  return evicted;
}

template <class Real>
Dense<Real> held(const Instance& x, const EvictedAt& evicted) {
  return weighted<Real>(x.problem,
                        [&](Index i, Index j) { return i < evicted[static_cast<std::size_t>(j)]; });
}

}  // namespace

VariantLaws h2o_laws() {
  VariantLaws laws = laws_from(
      "h2o", [](auto real, const Instance& x) { return held<decltype(real)>(x, h2o_evictions(x)); },
      {{.settings = {{"budget", "9"}}},
       {.settings = {{"budget", "1"}, {"recent", "0"}}},
       {.settings = {{"budget", "5"}, {"recent", "1"}}}});
  laws.exact_settings = {{{{"budget", "63"}}}};
  return laws;
}

VariantLaws snapkv_laws() {
  VariantLaws laws = laws_from(
      "snapkv",
      [](auto real, const Instance& x) { return held<decltype(real)>(x, snapkv_evictions(x)); },
      {{.settings = {{"budget", "9"}, {"window", "4"}, {"reach", "1"}}},
       {.settings = {{"budget", "3"}, {"window", "5"}, {"reach", "0"}, {"prompt", "0.3"}}}});
  laws.exact_settings = {{{{"budget", "63"}}}, {{{"prompt", "1"}}}, {{{"prompt", "0"}}}};
  return laws;
}

}  // namespace fovea::test
