// What the papers' formulas have in common: parameters by name, logits and the softmax, in float64
// or float32. Shares no code with planners and back ends.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

#include "laws/variant_laws.h"
#include "reference.h"

namespace fovea::test {

// Parameters by name.
struct Parameters {
  const Instance& instance;

  const Value& value(const std::string& id) const {
    for (std::size_t f = 0; f < instance.values.size(); ++f)
      if (instance.variant->schema[f].id == id) return instance.values[f];
    throw std::logic_error("no parameter " + id);
  }
  Index integer(const std::string& id) const { return std::get<std::int64_t>(value(id)); }
  double real(const std::string& id) const { return std::get<double>(value(id)); }
  std::string text(const std::string& id) const { return std::get<std::string>(value(id)); }
};

// Logits of fine pairs (level 0) and of clusters, which are means.
template <class Real>
struct Logits {
  const Problem& problem;

  std::vector<Real> mean(MatrixView m, Index cluster, int level) const {
    std::vector<Real> sum(static_cast<std::size_t>(m.cols), Real(0));
    const IndexRange tokens = cluster_tokens(cluster, level, m.rows);
    for (Index i = tokens.begin; i < tokens.end; ++i)
      for (Index c = 0; c < m.cols; ++c)
        sum[static_cast<std::size_t>(c)] += static_cast<Real>(m(i, c));
    for (Real& x : sum) x /= static_cast<Real>(tokens.size());
    return sum;
  }
  Real dot(const std::vector<Real>& q, const std::vector<Real>& k) const {
    Real sum = 0;
    for (std::size_t c = 0; c < q.size(); ++c) sum += q[c] * k[c];
    return static_cast<Real>(problem.scale) * sum;
  }
};

// What the model of the head does to a scaled logit.
template <class Real>
Real ruled(const Problem& problem, Real s, Index i, Index j) {
  if (!problem.rule) return s;
  const LogitRule& rule = *problem.rule;
  if (rule.soft_cap > 0) {
    const auto cap = static_cast<Real>(rule.soft_cap);
    s = cap * std::tanh(s / cap);
  }
  if (!rule.by_distance.empty())
    s += static_cast<Real>(rule.by_distance[static_cast<std::size_t>(problem.k.rows - 1 + i - j)]);
  if (!rule.by_key.empty()) s += static_cast<Real>(rule.by_key[static_cast<std::size_t>(j)]);
  if (!rule.bias.empty()) s += static_cast<Real>(rule.bias(j, i));
  return s;
}

// Whether the head lets query i see key j.
inline bool sees(const Problem& problem, Index i, Index j) {
  const Index t = i + problem.k.rows - problem.q.rows;  // the place of the query
  if (problem.causal && j > t) return false;
  if (problem.window > 0 && j <= t - problem.window) return false;
  if (!problem.mask) return true;
  const PairMask& mask = *problem.mask;
  if (!mask.key_document().empty() && mask.query_document()[static_cast<std::size_t>(i)] !=
                                          mask.key_document()[static_cast<std::size_t>(j)])
    return false;
  return mask.pairs().empty() || mask.pairs()(i, j);
}

inline std::optional<double> sink_of(const Problem& problem) {
  return problem.rule ? problem.rule->sink : std::nullopt;
}

// P_ij = w_ij exp(S_ij) / sum_j of the same, and of exp(sink); a row without weight is 0.
template <class Real>
Dense<Real> softmax(const Dense<Real>& weight, const Dense<Real>& logit,
                    std::optional<double> sink = {}) {
  Dense<Real> p(weight.n);
  for (Index i = 0; i < p.n; ++i) {
    Real top = sink ? static_cast<Real>(*sink) : -std::numeric_limits<Real>::infinity();
    for (Index j = 0; j < p.n; ++j)
      if (weight(i, j) > 0) top = std::max(top, logit(i, j));
    Real sum = sink ? std::exp(static_cast<Real>(*sink) - top) : Real(0);
    for (Index j = 0; j < p.n; ++j)
      if (weight(i, j) > 0) sum += p(i, j) = weight(i, j) * std::exp(logit(i, j) - top);
    for (Index j = 0; j < p.n; ++j)
      if (weight(i, j) > 0) p(i, j) /= sum;
  }
  return p;
}

template <class Real>
Dense<Real> fine_logits(const Problem& problem) {
  const Logits<Real> logits{problem};
  std::vector<std::vector<Real>> q, k;
  for (Index i = 0; i < problem.n(); ++i) {
    q.push_back(logits.mean(problem.q, i, 0));
    k.push_back(logits.mean(problem.k, i, 0));
  }
  Dense<Real> s(problem.n());
  for (Index i = 0; i < s.n; ++i)
    for (Index j = 0; j < s.n; ++j)
      s(i, j) =
          ruled(problem, logits.dot(q[static_cast<std::size_t>(i)], k[static_cast<std::size_t>(j)]),
                i, j);
  return s;
}

// Weights of a variant whose logits are all fine: a function of the pair.
template <class Real, class Weight>
Dense<Real> weighted(const Problem& problem, Weight weight_of) {
  Dense<Real> weight(problem.n());
  for (Index i = 0; i < weight.n; ++i)
    for (Index j = 0; j < weight.n; ++j)
      if (sees(problem, i, j)) weight(i, j) = static_cast<Real>(weight_of(i, j));
  return softmax(weight, fine_logits<Real>(problem), sink_of(problem));
}

/// The laws of a variant from its formula: `formula(Real(), instance)` gives Dense<Real>.
template <class Formula>
VariantLaws laws_from(std::string id, Formula formula, std::vector<Case> cases) {
  for (Case& c : cases) c.id = id;
  return {.id = std::move(id),
          .truth = [formula](const Instance& x) { return formula(double(), x); },
          .plain = [formula](const Instance& x) { return formula(float(), x); },
          .cases = std::move(cases)};
}

}  // namespace fovea::test
