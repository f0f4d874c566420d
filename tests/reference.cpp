#include "reference.h"

#include <cmath>
#include <stdexcept>

#include "laws/formulas.h"

namespace fovea::test {
namespace {

const VariantLaws& required_laws(const Instance& x) {
  if (const VariantLaws* laws = laws_of(x.variant->id)) return *laws;
  throw std::logic_error("no reference for " + x.variant->id);
}

}  // namespace

template <>
Dense<double> reference<double>(const Instance& x) {
  return required_laws(x).truth(x);
}

template <>
Dense<float> reference<float>(const Instance& x) {
  return required_laws(x).plain(x);
}

template <class Real>
std::vector<Real> times(const Dense<Real>& p, MatrixView v) {
  std::vector<Real> z(static_cast<std::size_t>(p.n * v.cols), Real(0));
  for (Index i = 0; i < p.n; ++i)
    for (Index j = 0; j < p.n; ++j)
      for (Index c = 0; c < v.cols; ++c)
        z[static_cast<std::size_t>(i * v.cols + c)] += p(i, j) * static_cast<Real>(v(j, c));
  return z;
}

double largest_logit(const Problem& problem) {
  const Logits<double> logits{problem};
  double largest = 0;
  std::vector<std::vector<double>> keys;
  for (Index j = 0; j < problem.k.rows; ++j) keys.push_back(logits.mean(problem.k, j, 0));
  for (Index i = 0; i < problem.q.rows; ++i) {
    const std::vector<double> q = logits.mean(problem.q, i, 0);
    for (Index j = 0; j < problem.k.rows; ++j) {
      const double logit = logits.dot(q, keys[static_cast<std::size_t>(j)]);
      largest = std::max(largest, std::abs(ruled(problem, logit, i, j)));
    }
  }
  return largest;
}

template std::vector<float> times<float>(const Dense<float>&, MatrixView);
template std::vector<double> times<double>(const Dense<double>&, MatrixView);

}  // namespace fovea::test
