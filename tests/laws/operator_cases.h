// What the laws of operators share: every case on every back end, and how far two results differ.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "laws/variant_laws.h"

namespace fovea::test {

/// Calls law(case, instance) for every case, shape of at most `longest` tokens, mask and
/// back end; the data alternate.
template <class Law>
void for_all(Law law, Index longest = 1 << 20) {
  int turn = 0;
  for (std::size_t i = 0; i < cases().size(); ++i)
    for (std::size_t s = 0; s < shapes().size(); ++s)
      for (const bool causal : masks_of(cases()[i])) {
        const Case& c = cases()[i];
        const Shape& shape = shapes()[s];
        if (shape.n > longest || !tried(i, s, causal)) continue;
        const auto data = static_cast<Data>(turn++ % 4);
        const Problem problem = make_data(data, shape.n, shape.d, shape.dv, causal, c.head);
        for (const auto& backend : backends()) {
          const std::string where = describe(c) + ", n = " + std::to_string(shape.n) +
                                    ", d = " + std::to_string(shape.d) +
                                    ", dv = " + std::to_string(shape.dv) +
                                    (causal ? ", causal, " : ", ") + backend->device() + ", data " +
                                    std::to_string(static_cast<int>(data));
          CAPTURE(where);
          law(c, make_instance(*backend, problem, c.id, c.settings));
        }
      }
}

/// Largest |a - b| over both, [rows, cols] each; infinite where one of them is NaN.
template <class A, class B>
double distance(const A& a, const B& b, Index rows, Index cols) {
  double largest = 0;
  for (Index i = 0; i < rows; ++i)
    for (Index c = 0; c < cols; ++c)
      if (const auto x = static_cast<double>(a(i, c)), y = static_cast<double>(b(i, c)); x != y)
        largest = larger_error(largest, x - y);
  return largest;
}

/// A vector seen as a matrix of `cols` columns.
template <class Real>
auto rows_of(const std::vector<Real>& values, Index cols) {
  return
      [&values, cols](Index i, Index c) { return values[static_cast<std::size_t>(i * cols + c)]; };
}

/// Largest magnitude.
inline double largest_entry(MatrixView m) {
  double largest = 0;
  for (Index i = 0; i < m.rows; ++i)
    for (Index c = 0; c < m.cols; ++c)
      largest = std::max(largest, std::abs(static_cast<double>(m(i, c))));
  return largest;
}

/// The relative error of exp(S) in float32 beyond the plain formula's: the back ends work with
/// S log2(e), which rounds the scale once more, and recompute S for entries of P, each a rounding
/// of a number of size |S|; and an exp2 good to 2 ulps. In units of 1.
inline double floor_of(const Problem& problem) {
  return 0x1p-23 * (4 + 2 * largest_logit(problem));
}

/// The same of a plan: rows that are divided by estimates of their sums are divided by sums of
/// other products, whose d roundings do not cancel those of the entries.
inline double floor_of(const Instance& x) {
  const auto* tiles = std::get_if<TilePlan>(&x.plan->form);
  const bool estimated = tiles && !tiles->row_estimates.empty();
  return floor_of(x.problem) +
         (estimated ? static_cast<double>(x.problem.d()) * 0x1p-24 * largest_logit(x.problem) : 0);
}

}  // namespace fovea::test
