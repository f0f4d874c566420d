// Linear attention and Performer: a product of features in place of exp(S).
#include "laws/formulas.h"

namespace fovea::test {
namespace {

// log of the features of a row of Q or K.
template <class Real, class LogFeatures>
Dense<Real> of_features(const Problem& problem, LogFeatures log_features) {
  const Index n = problem.n();
  std::vector<std::vector<Real>> q, k;
  for (Index i = 0; i < n; ++i) {
    q.push_back(log_features(problem.q, i));
    k.push_back(log_features(problem.k, i));
  }
  Dense<Real> weight(n), logit(n);
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j) {
      if (problem.causal && j > i) continue;
      weight(i, j) = 1;
      const auto& a = q[static_cast<std::size_t>(i)];
      const auto& b = k[static_cast<std::size_t>(j)];
      Real top = a[0] + b[0], sum = 0;
      for (std::size_t r = 0; r < a.size(); ++r) top = std::max(top, a[r] + b[r]);
      for (std::size_t r = 0; r < a.size(); ++r) sum += std::exp(a[r] + b[r] - top);
      logit(i, j) = top + std::log(sum);
    }
  return softmax(weight, logit);
}

template <class Real>
Dense<Real> linear(const Instance& x) {
  return of_features<Real>(x.problem, [](MatrixView m, Index i) {
    std::vector<Real> logs;
    for (Index c = 0; c < m.cols; ++c) {
      const Real value = static_cast<Real>(m(i, c));
      logs.push_back(value > 0 ? std::log(value + 1) : value);
    }
    return logs;
  });
}

template <class Real>
Dense<Real> performer(const Instance& x) {
  const auto& g = x.plan->structure.reals("features");
  const Index d = x.problem.d(), m = static_cast<Index>(g.size()) / d;
  const Real root = std::sqrt(static_cast<Real>(x.problem.scale));
  return of_features<Real>(x.problem, [&](MatrixView rows, Index i) {
    std::vector<Real> logs;
    Real squares = 0;
    for (Index c = 0; c < d; ++c) {
      const Real value = root * static_cast<Real>(rows(i, c));
      squares += value * value;
    }
    for (Index r = 0; r < m; ++r) {
      Real dot = 0;
      for (Index c = 0; c < d; ++c)
        dot += static_cast<Real>(g[static_cast<std::size_t>(r * d + c)]) *
               (root * static_cast<Real>(rows(i, c)));
      logs.push_back(dot - squares / 2);
    }
    return logs;
  });
}

}  // namespace

VariantLaws linear_laws() {
  VariantLaws laws =
      laws_from("linear", [](auto real, const Instance& x) { return linear<decltype(real)>(x); },
                {{.settings = {}}});
  laws.never_exact = true;
  return laws;
}

VariantLaws performer_laws() {
  VariantLaws laws = laws_from(
      "performer", [](auto real, const Instance& x) { return performer<decltype(real)>(x); },
      {{.settings = {{"features", "16"}}, .random = true},
       {.settings = {{"features", "1"}}, .random = true},
       {.settings = {{"features", "150"}}, .random = true}});
  laws.never_exact = true;
  laws.largest_exponent = [](const Instance& x) {
    double largest = 0;  // |x|^2 of the scaled rows
    for (const MatrixView m : {x.problem.q, x.problem.k})
      for (Index i = 0; i < m.rows; ++i) {
        double squares = 0;
        for (Index c = 0; c < m.cols; ++c) squares += std::pow(static_cast<double>(m(i, c)), 2);
        largest = std::max(largest, x.problem.scale * squares);
      }
    return largest / 2 +
           std::sqrt(largest * static_cast<double>(x.problem.d()));  // |g| is about root d
  };
  return laws;
}

}  // namespace fovea::test
