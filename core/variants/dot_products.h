// Scores of keys for the choices of selectors, in double. Products are added up in the order of the
// features, so that equal keys have equal scores and every back end selects alike.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "backend/isa/attend.h"
#include "data/problem.h"

namespace fovea {

/// Keys as the loops of a back end read them, in double.
class DoubleKeys {
 public:
  explicit DoubleKeys(MatrixView keys);
  /// Throws UnavailableError if these keys do not fit into memory.
  static void require_room(MatrixView keys);
  /// out[i * stride + j] = q_i . k_j of some queries and keys, without the scale.
  void products(MatrixView q, IndexRange queries, IndexRange keys, double* out, Index stride) const;

 private:
  const double* block(Index b) const { return blocks_.data() + b * d_ * isa::wide_keys; }
  double* block(Index b) { return blocks_.data() + b * d_ * isa::wide_keys; }

  Index count_, d_;
  std::vector<double> blocks_;  // [blocks of keys, d, isa::wide_keys]; 0 beyond the last key
};

/// out[i][j] = q_i . k_j of some queries and keys, row-major, without the scale: of keys that are
/// needed once.
void dot_products(MatrixView q, IndexRange queries, MatrixView k, IndexRange keys, double* out);

/// The largest of some products that is a number; -inf if there is none.
double largest_product(const double* products, Index count);

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
/// equal ones. scores[item] is that of an item; one below `least` counts as `least`. What is not a
/// number comes last.
void keep_largest(std::vector<std::int32_t>& items, const double* scores, Index count,
                  double least = -std::numeric_limits<double>::infinity());

}  // namespace fovea
