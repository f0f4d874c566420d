// The delta rule, SSD and log-linear attention as the recurrence of one row after the other, with
// the gates of the plan.
#include "laws/formulas.h"

namespace fovea::test {
namespace {

template <class Real>
std::vector<Real> vector_of(MatrixView m, Index i, bool unit) {
  std::vector<Real> x;
  Real square = 0;
  for (Index c = 0; c < m.cols; ++c) {
    x.push_back(static_cast<Real>(m(i, c)));
    square += x.back() * x.back();
  }
  if (unit && square > 0)
    for (Real& value : x) value /= std::sqrt(square);
  return x;
}

template <class Real>
Dense<Real> recurrence(const Instance& x, bool erases, bool unit) {
  const Problem& problem = x.problem;
  const Index n = problem.n(), d = problem.d();
  const Structure& its = x.plan->structure;
  const auto &beta = its.reals("beta"), &decay = its.reals("log_decay"),
             &weights = its.reals("level_weights");
  const Index channels = std::ssize(decay) / n, levels = std::ssize(weights) / n;
  Dense<Real> p(n);
  for (Index i = 0; i < n; ++i) {
    std::vector<Real> r = vector_of<Real>(problem.q, i, unit);
    for (Real& value : r) value *= static_cast<Real>(problem.scale);
    for (Index j = i; j >= 0; --j) {
      const std::vector<Real> k = vector_of<Real>(problem.k, j, unit);
      const auto b = static_cast<Real>(beta[static_cast<std::size_t>(j)]);
      Real dot = 0;
      for (std::size_t c = 0; c < k.size(); ++c) dot += r[c] * k[c];
      Index level = 0;  // of the smallest aligned stretch that holds both
      while (i >> level != j >> level) ++level;
      p(i, j) = b * dot;
      if (levels > 0)
        p(i, j) *= static_cast<Real>(weights[static_cast<std::size_t>(i * levels + level)]);
      for (Index c = 0; c < d; ++c) {
        Real& value = r[static_cast<std::size_t>(c)];
        if (erases) value -= b * dot * k[static_cast<std::size_t>(c)];
        value *= std::exp(static_cast<Real>(
            decay[static_cast<std::size_t>(j * channels + (channels > 1 ? c : 0))]));
      }
    }
  }
  return p;
}

VariantLaws laws_of_recurrence(std::string id, bool erases, std::vector<Settings> settings) {
  std::vector<Case> cases;
  for (Settings& its : settings)
    cases.push_back({.settings = std::move(its), .rows_sum_to_one = false});
  VariantLaws laws = laws_from(
      std::move(id),
      [erases](auto real, const Instance& x) {
        const bool unit = erases && Parameters{x}.text("vectors") == "unit";
        return recurrence<decltype(real)>(x, erases, unit);
      },
      std::move(cases));
  laws.never_exact = true;
  return laws;
}

}  // namespace

VariantLaws delta_laws() {
  // A state of keys as they are grows unless its erase term is weak.
  return laws_of_recurrence("delta", true,
                            {{{"beta", "0.5"}, {"half_life", "32"}},
                             {{"beta", "1.75"}, {"half_life", "4096"}},
                             {{"beta", "0.001"}, {"half_life", "64"}, {"vectors", "as_given"}}});
}

VariantLaws ssd_laws() {
  return laws_of_recurrence("ssd", false,
                            {{{"half_life", "16"}}, {{"beta", "0.25"}, {"half_life", "1048576"}}});
}

VariantLaws loglinear_laws() {
  return laws_of_recurrence(
      "loglinear", false,
      {{{"half_life", "32"}}, {{"beta", "0.5"}, {"half_life", "1"}, {"fall", "0"}}});
}

}  // namespace fovea::test
