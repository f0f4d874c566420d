// The reference is P of every variant as a dense matrix, straight from the formulas of the papers
// and the structure that a planner drew. It shares no code with planners and back ends. Each
// variant's formula stands in laws/variants.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "harness.h"

namespace fovea::test {

/// [n, n], row-major.
template <class Real>
struct Dense {
  Index n = 0;
  std::vector<Real> values;
  explicit Dense(Index size) : n(size), values(static_cast<std::size_t>(size * size), Real(0)) {}
  Real& operator()(Index i, Index j) { return values[static_cast<std::size_t>(i * n + j)]; }
  Real operator()(Index i, Index j) const { return values[static_cast<std::size_t>(i * n + j)]; }
};

/// P in the arithmetic of Real: double is the truth, float is what the plain formula achieves.
template <class Real>
Dense<Real> reference(const Instance& instance);

/// P V in the arithmetic of Real, [n, dv].
template <class Real>
std::vector<Real> times(const Dense<Real>& p, MatrixView v);

/// Largest sum over a row of |P_ij|: what an error of V or of the entries of P is multiplied by.
inline double row_mass(MatrixView p) {
  double largest = 0;
  for (Index i = 0; i < p.rows; ++i) {
    double sum = 0;
    for (Index j = 0; j < p.cols; ++j) sum += std::abs(static_cast<double>(p(i, j)));
    largest = std::max(largest, sum);
  }
  return largest;
}

/// Largest |S_ij|, in double.
double largest_logit(const Problem& problem);

template <>
Dense<float> reference<float>(const Instance&);
template <>
Dense<double> reference<double>(const Instance&);
extern template std::vector<float> times<float>(const Dense<float>&, MatrixView);
extern template std::vector<double> times<double>(const Dense<double>&, MatrixView);

}  // namespace fovea::test
