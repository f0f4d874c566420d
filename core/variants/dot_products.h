// Scores of keys for the choices of selectors, in double. Products are added up in the order of the
// features, so that equal keys have equal scores and every back end selects alike.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "data/problem.h"

namespace fovea {

/// out[i][j] = q_i . k_j of some queries and keys, row-major, without the scale.
void dot_products(MatrixView q, IndexRange queries, MatrixView k, IndexRange keys, double* out);

/// Rows of exact attention among some keys, [queries, keys]: exp of the logits over their sums. A
/// row without a pair is 0.
void exact_weights(const Problem& problem, IndexRange queries, IndexRange keys, double* out);

/// exp of a row over its sum; -inf becomes 0, and so does a row of -inf.
void to_weights(double* row, Index count);

/// An order of scores for sorting, the largest first; what is not a number comes last.
inline bool is_larger(double a, double b) {
  return a > b || (std::isnan(b) && !std::isnan(a));
}

/// Leaves the `count` items of the largest scores, ascending as they are given: the first among
/// equal ones. scores[item] is that of an item; what is not a number comes last.
void keep_largest(std::vector<std::int32_t>& items, const double* scores, Index count);

}  // namespace fovea
