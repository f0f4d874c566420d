#include "variants/dot_products.h"

#include <cmath>
#include <limits>

namespace fovea {

void key_products(const Problem& problem, IndexRange queries, IndexRange keys, double* out) {
  dot_products(
      problem.q, queries, keys, [&](Index j) { return problem.k.row(j); }, out);
}

void to_weights(double* row, Index count) {
  const double top = *std::max_element(row, row + count);
  if (top == -std::numeric_limits<double>::infinity()) {
    std::fill_n(row, count, 0.0);
    return;
  }
  double sum = 0;
  for (Index j = 0; j < count; ++j) sum += row[j] = std::exp(row[j] - top);
  for (Index j = 0; j < count; ++j) row[j] /= sum;
}

void exact_weights(const Problem& problem, IndexRange queries, IndexRange keys, double* out) {
  key_products(problem, queries, keys, out);
  for (Index i = queries.begin; i < queries.end; ++i, out += keys.size()) {
    for (Index j = keys.begin; j < keys.end; ++j) {
      double& s = out[j - keys.begin];
      s *= problem.scale;
      if (problem.rule) s = problem.rule->capped(s) + problem.rule->bias_of(i, j, problem.keys());
      if (!problem.admits(i, j)) s = -std::numeric_limits<double>::infinity();
    }
    to_weights(out, keys.size());
  }
}

}  // namespace fovea
