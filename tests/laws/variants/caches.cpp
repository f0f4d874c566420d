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

/// A row of rotary positions, as Llama has them: the first half turns with the second.
std::vector<double> turned(const std::vector<double>& row, double position, double base) {
  std::vector<double> out = row;
  const std::size_t half = row.size() / 2;
  for (std::size_t c = 0; c < half; ++c) {
    const double angle =
        position / std::pow(base, static_cast<double>(c) / static_cast<double>(half));
    out[c] = row[c] * std::cos(angle) - row[c + half] * std::sin(angle);
    out[c + half] = row[c] * std::sin(angle) + row[c + half] * std::cos(angle);
  }
  return out;
}

/// The covariance is written as a mean over the queries, each of which is turned to all later
/// positions.
EvictedAt expected_evictions(const Instance& x) {
  const Parameters p{x};
  const Problem& head = x.problem;
  const Index n = head.n(), d = head.d(), budget = p.integer("budget"),
              prompt = std::lround(p.real("prompt") * static_cast<double>(n)),
              first = std::min({p.integer("sinks"), budget, prompt}), future = p.integer("future");
  const double rotary = p.real("rotary");
  EvictedAt evicted(static_cast<std::size_t>(n), n);
  if (budget >= prompt || prompt == n) return evicted;
  std::vector<std::vector<double>> queries;
  std::vector<double> mean(static_cast<std::size_t>(d));
  for (Index i = std::min(p.integer("sinks"), prompt - 1); i < prompt; ++i) {
    std::vector<double> query(head.q.row(i), head.q.row(i) + d), later(query.size());
    if (rotary > 0) {
      const std::vector<double> start = turned(query, -static_cast<double>(i), rotary);
      for (Index at = prompt; at < prompt + future; ++at) {
        const std::vector<double> then = turned(start, static_cast<double>(at), rotary);
        for (std::size_t c = 0; c < then.size(); ++c)
          later[c] += then[c] / static_cast<double>(future);
      }
      query = later;
    }
    queries.push_back(query);
  }
  for (const auto& query : queries)
    for (std::size_t c = 0; c < mean.size(); ++c)
      mean[c] += query[c] / static_cast<double>(queries.size());
  std::vector<double> score;
  for (Index j = first; j < prompt; ++j) {
    double along = 0, spread = 0;
    for (Index c = 0; c < d; ++c) along += mean[static_cast<std::size_t>(c)] * double{head.k(j, c)};
    for (const auto& query : queries) {
      double product = 0;
      for (std::size_t c = 0; c < mean.size(); ++c)
        product += (query[c] - mean[c]) * double{head.k(j, static_cast<Index>(c))};
      spread += product * product / static_cast<double>(queries.size());
    }
    score.push_back(head.scale * along + head.scale * head.scale * spread / 2);
  }
  std::vector<Index> order(score.size());
  std::iota(order.begin(), order.end(), Index{0});
  for (std::size_t j = 0; j < score.size(); ++j) {
    double norm = 0;
    for (Index c = 0; c < head.dv(); ++c)
      norm += std::pow(double{head.v(first + static_cast<Index>(j), c)}, 2);
    if (p.text("values") == "counted") score[j] += std::log(std::sqrt(norm));
  }
  std::ranges::stable_sort(order, [&](Index a, Index b) {
    return score[static_cast<std::size_t>(a)] > score[static_cast<std::size_t>(b)];
  });
  for (std::size_t rank = static_cast<std::size_t>(budget - first); rank < order.size(); ++rank)
    evicted[static_cast<std::size_t>(first + order[rank])] = prompt;
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

VariantLaws expected_laws() {
  VariantLaws laws = laws_from(
      "expected",
      [](auto real, const Instance& x) { return held<decltype(real)>(x, expected_evictions(x)); },
      {{.settings = {{"budget", "9"}, {"sinks", "2"}}},
       {.settings = {{"budget", "5"}, {"sinks", "7"}, {"prompt", "0.7"}, {"values", "ignored"}}},
       {.settings = {{"budget", "4"}, {"sinks", "1000"}, {"rotary", "100"}, {"future", "3"}}}});
  laws.exact_settings = {{{{"budget", "63"}}}, {{{"prompt", "1"}}}, {{{"prompt", "0"}}}};
  return laws;
}

}  // namespace fovea::test
