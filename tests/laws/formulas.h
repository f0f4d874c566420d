// What the papers' formulas have in common: parameters by name, logits and the softmax, in float64
// or float32. Shares no code with planners and back ends.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
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

// P_ij = w_ij exp(S_ij) / sum_j of the same; a row without weight is 0.
template <class Real>
Dense<Real> softmax(const Dense<Real>& weight, const Dense<Real>& logit) {
  Dense<Real> p(weight.n);
  for (Index i = 0; i < p.n; ++i) {
    Real top = -std::numeric_limits<Real>::infinity(), sum = 0;
    for (Index j = 0; j < p.n; ++j)
      if (weight(i, j) > 0) top = std::max(top, logit(i, j));
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
      s(i, j) = logits.dot(q[static_cast<std::size_t>(i)], k[static_cast<std::size_t>(j)]);
  return s;
}

// Weights of a variant whose logits are all fine: a function of the pair.
template <class Real, class Weight>
Dense<Real> weighted(const Problem& problem, Weight weight_of) {
  Dense<Real> weight(problem.n());
  for (Index i = 0; i < weight.n; ++i)
    for (Index j = 0; j < weight.n; ++j)
      if (!problem.causal || j <= i) weight(i, j) = static_cast<Real>(weight_of(i, j));
  return softmax(weight, fine_logits<Real>(problem));
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
