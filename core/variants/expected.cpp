// Expected attention: after the prompt, a cache keeps the keys that later queries are expected to
// attend most, if they are distributed as those of the prompt.
#include <algorithm>
#include <cmath>
#include <vector>

#include "analysis/eviction_figures.h"
#include "data/error.h"
#include "data/memory.h"
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
                       "0 and on by the mean rotation of later positions. 0: queries are taken as "
                       "they are."),
            int_field("future", "Later positions", "tokens", &P::future, 1, 131072, Axis::log2,
                      "How many positions after the prompt the rotation is averaged over, if there "
                      "is a rotary base.")};
  }
};

/// Rotary positions as Llama has them: each channel of the first half turns with one of the second.
class Rotary {
 public:
  /// Nothing turns if the base is 0.
  Rotary(Index d, double base) : half_(d / 2) {
    for (Index pair = 0; base > 0 && pair < half_; ++pair)
      frequencies_.push_back(
          std::pow(base, -static_cast<double>(pair) / static_cast<double>(half_)));
  }

  Index pairs() const { return std::ssize(frequencies_); }
  double angle(Index pair, Index position) const {
    return frequencies_[static_cast<std::size_t>(pair)] * static_cast<double>(position);
  }
  /// The two channels of a pair, `stride` numbers apart in memory, times c and s of an angle.
  void turn(double* channels, Index pair, Index stride, double c, double s) const {
    double &x = channels[pair * stride], &y = channels[(pair + half_) * stride];
    const double before = x;
    x = c * before - s * y;
    y = s * before + c * y;
  }

 private:
  const Index half_;
  std::vector<double> frequencies_;
};

/// A normal distribution of queries.
class QueryDistribution {
 public:
  /// The distribution of the queries in `range`, which are turned back to position 0, and on by the
  /// mean rotation of the positions `later`.
  QueryDistribution(const Problem& problem, IndexRange range, const Rotary& rotary,
                    IndexRange later, Planning& planning)
      : d_(problem.d()),
        mean_(static_cast<std::size_t>(d_)),
        covariance_(static_cast<std::size_t>(d_ * d_)) {
    const auto count = static_cast<double>(range.size());
    require_memory(count * static_cast<double>(d_ * sizeof(double)),
                   std::to_string(range.size()) + " queries in double precision", fewer_tokens);
    std::vector<double> queries(static_cast<std::size_t>(range.size() * d_));
    for (Index i = range.begin; i < range.end; ++i) {
      if (i % 1024 == 0) planning.run.check();
      double* const query = queries.data() + (i - range.begin) * d_;
      std::copy_n(problem.q.row(i), d_, query);
      for (Index pair = 0; pair < rotary.pairs(); ++pair)
        rotary.turn(query, pair, 1, std::cos(rotary.angle(pair, i)),
                    -std::sin(rotary.angle(pair, i)));
      for (Index c = 0; c < d_; ++c) mean_[c] += query[c] / count;
    }
    planning.backend.share_out(d_, planning.run, [&](Index c) {
      double* const row = covariance_.data() + c * d_;
      for (Index i = 0; i < range.size(); ++i) {
        const double* const query = queries.data() + i * d_;
        const double from_mean = (query[c] - mean_[c]) / count;
        for (Index e = 0; e < d_; ++e) row[e] += from_mean * (query[e] - mean_[e]);
      }
    });
    turn_on(rotary, later, planning);
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
  void turn_on(const Rotary& rotary, IndexRange later, Planning& planning) {
    for (Index pair = 0; pair < rotary.pairs(); ++pair) {
      planning.run.check();
      double c = 0, s = 0;
      for (Index i = later.begin; i < later.end; ++i) {
        c += std::cos(rotary.angle(pair, i)) / static_cast<double>(later.size());
        s += std::sin(rotary.angle(pair, i)) / static_cast<double>(later.size());
      }
      rotary.turn(mean_.data(), pair, 1, c, s);
      for (Index e = 0; e < d_; ++e) rotary.turn(covariance_.data() + e, pair, d_, c, s);
      for (Index e = 0; e < d_; ++e) rotary.turn(covariance_.data() + e * d_, pair, 1, c, s);
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
  const Index n = problem.n(), prompt = tokens_of_prompt(p.prompt, n),
              first = std::min({p.sinks, p.budget, prompt});
  if (p.budget >= prompt || prompt == n) return Evictions(n, static_cast<std::int32_t>(n));
  if (p.values == ValueNorms::counted && !problem.has_values())
    throw UsageError(
        std::string("values is 'counted', which weighs keys by the norms of their values, but ") +
        no_values + "; expected values = ignored");
  const IndexRange counted{std::min(p.sinks, prompt - 1), prompt};
  const QueryDistribution queries(problem, counted, Rotary(problem.d(), p.rotary),
                                  {prompt, prompt + p.future}, planning);
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
  if (!given && p.rotary == 0) plan.notes.push_back("queries are taken as they are");
  if (!given && (problem.mask || problem.window > 0 || problem.rule))
    plan.notes.push_back("scores of keys ignore masks, windows, biases and caps");
  return plan;
}

}  // namespace

Variant expected_variant() {
  return make_variant<ExpectedParameters>(
      {.id = "expected",
       .label = "Expected Attention",
       .paper = "Devoto et al. 2025 (Expected Attention), section 3; kvpress",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over C for i ≥ prompt,  C: sinks and top keys of "
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
