// Scores of keys for the choices of selectors, in double. Products are added up in the order of the
// features, so that equal keys have equal scores and every back end selects alike.
#pragma once

#include <algorithm>
#include <vector>

#include "data/problem.h"

namespace fovea {

/// out[i][j] = q_i . key_j of some queries and keys, row-major, without the scale. key_of(j) points
/// to the numbers of key j.
template <class KeyOf>
void dot_products(MatrixView q, IndexRange queries, IndexRange keys, const KeyOf& key_of,
                  double* out) {
  constexpr Index side = 16;  // keys side by side
  const Index d = q.cols, width = keys.size();
  std::vector<double> transposed(static_cast<std::size_t>(d * side));
  for (Index first = 0; first < width; first += side) {
    const Index count = std::min(side, width - first);
    for (Index l = 0; l < count; ++l)
      for (Index c = 0; c < d; ++c)
        transposed[static_cast<std::size_t>(c * side + l)] =
            static_cast<double>(key_of(keys.begin + first + l)[c]);
    for (Index i = 0; i < queries.size(); ++i) {
      const float* query = q.row(queries.begin + i);
      double sum[side] = {};
      for (Index c = 0; c < d; ++c) {
        const auto x = static_cast<double>(query[c]);
        const double* at = transposed.data() + c * side;
        for (Index l = 0; l < side; ++l) sum[l] += x * at[l];
      }
      std::copy_n(sum, count, out + i * width + first);
    }
  }
}

/// The same of the head's own keys.
void key_products(const Problem& problem, IndexRange queries, IndexRange keys, double* out);

/// Rows of exact attention among some keys, [queries, keys]: exp of the logits over their sums. A
/// row without a pair is 0.
void exact_weights(const Problem& problem, IndexRange queries, IndexRange keys, double* out);

/// exp of a row over its sum; -inf becomes 0, and so does a row of -inf.
void to_weights(double* row, Index count);

}  // namespace fovea
