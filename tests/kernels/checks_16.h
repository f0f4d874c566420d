// Checks of Z in 16 bits against float64 and against the plain formula on rounded numbers.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "kernels/round_16.h"
#include "laws/cases.h"
#include "reference.h"

namespace fovea::test {

using Round = std::uint16_t (*)(float);
using Widen = float (*)(std::uint16_t);

struct Format {
  const char* name;
  Round round;
  Widen widen;
  std::unique_ptr<Backend> backend;

  float operator()(float x) const { return widen(round(x)); }
  Matrix rounded(MatrixView m, float factor = 1) const {
    Matrix out(m.rows, m.cols);
    for (Index i = 0; i < m.rows; ++i)
      for (Index c = 0; c < m.cols; ++c) out(i, c) = (*this)(m(i, c) * factor);
    return out;
  }
};

// Z of the plain formula in float32 on numbers of 16 bits: q times scale and log2(e), k, v and P.
// What a plan has rounded to fewer bits before is rounded once more: its formula is then exact
// attention's.
inline std::vector<float> plain(const Instance& x, const Format& format) {
  constexpr double log2e = 1.44269504088896340736;
  const auto log2_scale = static_cast<float>(x.problem.scale * log2e);
  const Problem& head = x.bound->problem();
  const Problem problem =
      make_problem(format.rounded(head.q, log2_scale), format.rounded(head.k),
                   format.rounded(x.problem.v), 1 / log2e, x.problem.causal, x.problem.head);
  const Variant* variant = x.plan->rounded ? &reference_variant() : x.variant;
  const Instance rounded{variant, x.values, problem, x.plan, nullptr};
  Dense<float> p = reference<float>(rounded);
  for (float& weight : p.values) weight = format(weight);
  return times(p, problem.v);
}

inline double worst(const std::vector<double>& truth, const auto& value_at) {
  double error = 0;
  for (std::size_t i = 0; i < truth.size(); ++i) {
    const double off = std::abs(static_cast<double>(value_at(i)) - truth[i]);
    error = std::isnan(off) ? std::numeric_limits<double>::infinity() : std::max(error, off);
  }
  return error;
}

// Z has at most twice the error of the plain formula, and four times where queries, keys and values
// are mixtures: those are rounded, too. Where the formula happens to be exact, the error of float32
// is allowed: sums of n terms no larger than |v|.
inline void check_error(const Instance& x, const Format& format, Profile* profile = nullptr) {
  const Output out = x.apply(x.problem.v, profile);
  const Index dv = x.problem.dv();
  const std::vector<double> truth = times(reference<double>(x), x.problem.v);
  const std::vector<float> formula = plain(x, format);
  const double ours = worst(truth, [&](std::size_t i) {
    return out.z(static_cast<Index>(i) / dv, static_cast<Index>(i) % dv);
  });
  const double theirs = worst(truth, [&](std::size_t i) { return formula[i]; });
  double largest = 0;
  for (Index i = 0; i < x.problem.n(); ++i)
    for (Index c = 0; c < dv; ++c) largest = std::max(largest, std::abs(double{x.problem.v(i, c)}));
  CAPTURE(theirs);
  const double times_formula = std::holds_alternative<ProjectedPlan>(x.plan->form) ? 4 : 2;
  CHECK(ours <= times_formula * theirs + 4 * std::numeric_limits<float>::epsilon() * largest);
}

// A row of exact attention, with weights of the softmax rounded or not; logits are `scale` q.k.
template <class RoundWeight>
std::vector<double> row_of(const Problem& problem, double scale, Index i, RoundWeight round) {
  const Index end = problem.causal ? i + 1 : problem.n();
  std::vector<double> weight(static_cast<std::size_t>(end)),
      z(static_cast<std::size_t>(problem.dv()));
  double top = -std::numeric_limits<double>::infinity(), sum = 0;
  for (Index j = 0; j < end; ++j) {
    double dot = 0;
    for (Index c = 0; c < problem.d(); ++c) dot += double{problem.q(i, c)} * problem.k(j, c);
    top = std::max(top, weight[j] = scale * dot);
  }
  for (double& w : weight) sum += w = std::exp(w - top);
  for (Index j = 0; j < end; ++j) {
    const double w = round(weight[j]) / sum;
    for (Index c = 0; c < problem.dv(); ++c) z[c] += w * problem.v(j, c);
  }
  return z;
}

// As check_error, for sequences of any length.
inline void check_rows(const Problem& problem, const Format& format, Profile* profile = nullptr) {
  constexpr double log2e = 1.44269504088896340736;
  const Problem rounded =
      make_problem(format.rounded(problem.q, static_cast<float>(problem.scale * log2e)),
                   format.rounded(problem.k), format.rounded(problem.v), 1 / log2e, problem.causal);
  const Output out = make_instance(*format.backend, problem, "exact", {}).apply(problem.v, profile);
  const Index step = std::max<Index>(1, problem.n() / 50);  // no divisor of a query tile's height
  double ours = 0, theirs = 0;
  for (Index i = 0; i < problem.n(); i += step) {
    const auto truth = row_of(problem, problem.scale, i, [](double w) { return w; });
    const auto formula =
        row_of(rounded, rounded.scale, i, [&](double w) { return format(static_cast<float>(w)); });
    ours = std::max(ours,
                    worst(truth, [&](std::size_t c) { return out.z(i, static_cast<Index>(c)); }));
    theirs = std::max(theirs, worst(truth, [&](std::size_t c) { return formula[c]; }));
  }
  CAPTURE(theirs);
  CHECK(ours <= 2 * theirs + 1e-6);  // float32's own error: sums of |v| up to 5
}

}  // namespace fovea::test
