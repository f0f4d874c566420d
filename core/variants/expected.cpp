// Expected attention: after the prompt, a cache keeps the keys that later queries are expected to
// attend most, if they are distributed as those of the prompt.
#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/eviction_figures.h"
#include "data/error.h"
#include "variants/cache.h"

namespace fovea {
namespace {

enum class ValueNorms { counted, ignored };

struct ExpectedParameters {
  Index budget = 1024, sinks = 4, future = 512;
  double prompt = .5, rotary = 0;
  ValueNorms values = ValueNorms::counted;

  static std::vector<TypedField<ExpectedParameters>> fields() {
    using P = ExpectedParameters;
    auto budget = prompt_budget_field<P>(&P::budget);
    return {budget,
            int_field("sinks", "Sinks", "tokens", &P::sinks, 0, 131072, Axis::linear,
                      "The first tokens of the prompt, whose keys stay and whose queries do not "
                      "count."),
            prompt_field<P>(&P::prompt),
            choice_field("values", "Norms of values", &P::values, {"counted", "ignored"},
                         "counted: what a key is expected to get is multiplied by the norm of its "
                         "value. ignored: it is not."),
            real_field("rotary", "Rotary base", "", &P::rotary, 0, 1e9, Axis::linear,
                       "The base of rotary positions, such as 10000, as Llama has them, where each "
                       "half of a vector turns with the other. Queries are turned back to position "
                       "0 and on to the mean of later positions. 0: they are taken as they are."),
            int_field("future", "Later positions", "tokens", &P::future, 1, 131072, Axis::log2,
                      "The positions after the prompt that are meant, with a rotary base.")};
  }
};

/// A normal distribution of queries.
class QueryDistribution {
 public:
  /// That of the queries in `range`, as they are at position 0 if there is a rotary base, and then
  /// at the mean of the `later` positions.
  QueryDistribution(const Problem& problem, IndexRange range, const ExpectedParameters& p,
                    IndexRange later, Planning& planning)
      : d_(problem.d()),
        mean_(static_cast<std::size_t>(d_)),
        covariance_(static_cast<std::size_t>(d_ * d_)) {
    std::vector<double> queries;
    for (Index i = range.begin; i < range.end; ++i) {
      const std::vector<double> query = at_start(problem.q.row(i), i, p.rotary);
      queries.insert(queries.end(), query.begin(), query.end());
      for (Index c = 0; c < d_; ++c) mean_[c] += query[c] / static_cast<double>(range.size());
    }
    planning.backend.share_out(d_, planning.run, [&](Index c) {
      double* const row = covariance_.data() + c * d_;
      for (Index i = 0; i < range.size(); ++i) {
        const double* const query = queries.data() + i * d_;
        const double from_mean = query[c] - mean_[c];
        for (Index e = 0; e < d_; ++e) row[e] += from_mean * (query[e] - mean_[e]);
      }
      for (Index e = 0; e < d_; ++e) row[e] /= static_cast<double>(range.size());
    });
    if (p.rotary > 0) turn_to(later, p.rotary);
  }

  /// log E e^(s q.k).
  double log_expectation(const float* key, double s) const {
    double along = 0, spread = 0;
    std::vector<double> product(static_cast<std::size_t>(d_));
    for (Index e = 0; e < d_; ++e)
      for (Index c = 0; c < d_; ++c) product[c] += covariance_[e * d_ + c] * double{key[e]};
    for (Index c = 0; c < d_; ++c) {
      along += mean_[c] * double{key[c]};
      spread += product[c] * double{key[c]};
    }
    return s * along + s * s / 2 * spread;
  }

 private:
  double angle(Index pair, double position, double base) const {
    return position * std::pow(base, -2 * static_cast<double>(pair) / static_cast<double>(d_));
  }
  /// x and y of each pair become c x - s y and s x + c y.
  static void turn(double& x, double& y, double c, double s) {
    const double before = x;
    x = c * before - s * y;
    y = s * before + c * y;
  }

  std::vector<double> at_start(const float* row, Index position, double base) const {
    std::vector<double> query(row, row + d_);
    for (Index pair = 0; base > 0 && pair < d_ / 2; ++pair) {
      const double back = -angle(pair, static_cast<double>(position), base);
      turn(query[pair], query[pair + d_ / 2], std::cos(back), std::sin(back));
    }
    return query;
  }

  void turn_to(IndexRange later, double base) {
    for (Index pair = 0; pair < d_ / 2; ++pair) {
      double c = 0, s = 0;
      for (Index i = later.begin; i < later.end; ++i) {
        c += std::cos(angle(pair, static_cast<double>(i), base));
        s += std::sin(angle(pair, static_cast<double>(i), base));
      }
      c /= static_cast<double>(later.size());
      s /= static_cast<double>(later.size());
      const Index other = pair + d_ / 2;
      turn(mean_[pair], mean_[other], c, s);
      for (Index e = 0; e < d_; ++e)
        turn(covariance_[pair * d_ + e], covariance_[other * d_ + e], c, s);
      for (Index e = 0; e < d_; ++e)
        turn(covariance_[e * d_ + pair], covariance_[e * d_ + other], c, s);
    }
  }

  const Index d_;
  std::vector<double> mean_, covariance_;  // [d], [d, d]
};

double norm_of(MatrixView rows, Index i) {
  double sum = 0;
  for (Index c = 0; c < rows.cols; ++c) sum += double{rows(i, c)} * double{rows(i, c)};
  return std::sqrt(sum);
}

Evictions evictions_of(const Problem& problem, const ExpectedParameters& p, Planning& planning,
                       double& multiply_adds) {
  const auto stage = planning.run.profile.stage("select");
  if (p.rotary > 0 && problem.d() % 2 > 0)
    throw UsageError("rotary is set for heads of d = " + std::to_string(problem.d()) +
                     "; expected an even d");
  const Index n = problem.n(), prompt = tokens_of_prompt(p.prompt, n),
              first = std::min({p.sinks, p.budget, prompt});
  if (p.budget >= prompt || prompt == n) return Evictions(n, static_cast<std::int32_t>(n));
  if (p.values == ValueNorms::counted && !problem.has_values())
    throw UsageError(
        std::string("values is 'counted', which weighs keys by the norms of their values, but ") +
        no_values + "; expected values = ignored");
  const IndexRange counted{std::min(p.sinks, prompt - 1), prompt};
  const QueryDistribution queries(problem, counted, p, {prompt, prompt + p.future}, planning);
  // Logarithms, without the sum of the softmax: the largest are the same, and none becomes 0.
  std::vector<double> score(static_cast<std::size_t>(prompt - first));
  planning.backend.share_out(std::ssize(score), planning.run, [&](Index j) {
    score[j] = queries.log_expectation(problem.k.row(first + j), problem.scale);
    if (p.values == ValueNorms::counted) score[j] += std::log(norm_of(problem.v, first + j));
  });
  const auto d = static_cast<double>(problem.d());
  multiply_adds = d * d * static_cast<double>(counted.size() + std::ssize(score));
  return evicted_after_prompt(n, prompt, {first, prompt}, score, p.budget - first);
}

Plan plan_expected(const Problem& problem, const ExpectedParameters& p, Planning& planning) {
  Evictions evicted = given_evictions(planning, problem.n());
  double multiply_adds = 0;
  const bool given = !evicted.empty();
  if (!given) evicted = evictions_of(problem, p, planning, multiply_adds);
  Plan plan = plan_of_cache(problem, std::move(evicted), planning);
  plan.planning_multiply_adds = multiply_adds;
  if (!given && (problem.mask || problem.window > 0 || problem.rule))
    plan.notes.push_back(
        "expected of products alone: masks, windows, biases and caps do not count");
  return plan;
}

}  // namespace

Variant expected_variant() {
  return make_variant<ExpectedParameters>(
      {.id = "expected",
       .label = "Expected Attention",
       .paper = "Devoto et al. 2025 (Expected Attention), section 3; kvpress",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ_{C} exp for i ≥ prompt,  C: sinks and top keys of "
                  "exp(s μ·kⱼ + s² kⱼᵀΣkⱼ / 2) |vⱼ|",
       .summary = "After the prompt, the keys that queries of the same mean μ and covariance Σ as "
                  "those of the prompt would attend most, and all later ones.",
       .mask = Mask::causal_only,
       .group = Group::selectors,
       .structure = cache_tensors(),
       .diagnostics = {eviction_figures},
       .is_exact = budget_holds_all},
      plan_expected);
}

}  // namespace fovea
