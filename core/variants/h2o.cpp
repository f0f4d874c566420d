// H2O, heavy hitter oracle: a cache evicts the key with the least attention so far, but no recent
// one.
#include <algorithm>
#include <limits>
#include <vector>

#include "analysis/eviction_figures.h"
#include "variants/cache.h"
#include "variants/dot_products.h"

namespace fovea {
namespace {

struct H2oParameters {
  Index budget = 1024;
  double recent = .5;

  static std::vector<TypedField<H2oParameters>> fields() {
    using P = H2oParameters;
    auto budget = size_field<P>("budget", "Budget", "keys", &P::budget, 1, 131072,
                                "Keys that the cache holds after each token. With budget >= n the "
                                "result is exact.",
                                [](Index n) { return short_size(n, 1024); });
    budget.field.worth_trying = try_sizes(budget.field, 2, 2);
    return {budget, real_field("recent", "Recent", "of the budget", &P::recent, 0, 1, Axis::linear,
                               "Share of the budget for the last tokens, which are not evicted.")};
  }
};

class H2oCache {
 public:
  H2oCache(const Problem& problem, const H2oParameters& p, Planning& planning)
      : problem_(problem),
        planning_(planning),
        budget_(p.budget),
        recent_(static_cast<Index>(p.recent * static_cast<double>(p.budget))),
        attention_(static_cast<std::size_t>(problem.n())),
        evicted_(static_cast<std::size_t>(problem.n()), static_cast<std::int32_t>(problem.n())) {}

  Evictions evictions() {
    const auto stage = planning_.run.profile.stage("select");
    constexpr Index strip = 64;
    const Index n = problem_.n();
    for (Index begin = 0; begin < n; begin += strip) {
      planning_.run.check();
      step_through({begin, std::min(n, begin + strip)});
    }
    return std::move(evicted_);
  }

 private:
  /// Within a strip keys only leave the cache, but for the strip's own tokens: all logits that are
  /// needed are known beforehand.
  void step_through(IndexRange rows) {
    std::vector<std::int32_t> keys = cache_;
    for (Index i = rows.begin; i < rows.end; ++i) keys.push_back(static_cast<std::int32_t>(i));
    const Index count = std::ssize(keys);
    std::vector<double> logits(static_cast<std::size_t>(rows.size() * count));
    planning_.backend.share_out(rows.size(), planning_.run, [&](Index row) {
      for (Index c = 0; c < count; ++c) {
        const Index i = rows.begin + row, j = keys[static_cast<std::size_t>(c)];
        logits[static_cast<std::size_t>(row * count + c)] =
            problem_.admits(i, j) ? problem_.logit(i, j) : -HUGE_VAL;
      }
    });
    std::vector<std::int32_t> held(cache_.size());  // places in `keys`
    for (std::size_t c = 0; c < held.size(); ++c) held[c] = static_cast<std::int32_t>(c);
    for (Index i = rows.begin; i < rows.end; ++i) {
      held.push_back(static_cast<std::int32_t>(std::ssize(cache_) + i - rows.begin));
      add_weights(logits.data() + (i - rows.begin) * count, held, keys);
      if (std::ssize(held) > budget_) evict(held, keys, i + 1);
    }
    std::vector<std::int32_t> left;
    for (const std::int32_t c : held) left.push_back(keys[static_cast<std::size_t>(c)]);
    cache_ = std::move(left);
  }

  void add_weights(const double* logits, const std::vector<std::int32_t>& held,
                   const std::vector<std::int32_t>& keys) {
    std::vector<double> weights;
    for (const std::int32_t c : held) weights.push_back(logits[c]);
    to_weights(weights.data(), std::ssize(weights));
    for (std::size_t h = 0; h < held.size(); ++h)
      attention_[static_cast<std::size_t>(keys[static_cast<std::size_t>(held[h])])] += weights[h];
  }

  /// The first among equal ones.
  void evict(std::vector<std::int32_t>& held, const std::vector<std::int32_t>& keys, Index query) {
    const auto key = [&](std::int32_t c) {
      return static_cast<std::size_t>(keys[static_cast<std::size_t>(c)]);
    };
    const auto old = held.end() - std::min(recent_, std::ssize(held) - 1);
    const auto least = std::min_element(held.begin(), old, [&](std::int32_t a, std::int32_t b) {
      return attention_[key(a)] < attention_[key(b)];
    });
    evicted_[key(*least)] = static_cast<std::int32_t>(query);
    held.erase(least);
  }

  const Problem& problem_;
  Planning& planning_;
  Index budget_, recent_;
  std::vector<double> attention_;  // [n] of each key so far
  Evictions evicted_;
  std::vector<std::int32_t> cache_;  // ascending
};

Plan plan_h2o(const Problem& problem, const H2oParameters& p, Planning& planning) {
  Evictions evicted = given_evictions(planning, problem.n());
  if (evicted.empty()) evicted = H2oCache(problem, p, planning).evictions();
  return plan_of_cache(problem, std::move(evicted), planning);
}

}  // namespace

Variant h2o_variant() {
  return make_variant<H2oParameters>(
      {.id = "h2o",
       .label = "H2O",
       .paper = "Zhang et al. 2023 (H2O: Heavy-Hitter Oracle), section 4.1 and algorithm 1",
       .formula =
           "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Cᵢ,  Cᵢ₊₁ = Cᵢ ∪ {i+1} without the key of the least Σₜ Pₜⱼ",
       .summary = "A cache that evicts the key with the least attention so far, but no recent one.",
       .mask = Mask::causal_only,
       .group = Group::selectors,
       .structure = cache_tensors(),
       .diagnostics = {eviction_figures},
       .is_exact = budget_holds_all},
      plan_h2o);
}

}  // namespace fovea
