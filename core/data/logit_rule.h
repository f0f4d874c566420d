// A LogitRule is what a model does to the logits of a head beside scaling them, and to the sums of
// its rows:
//   S_ij = cap(scale q_i . k_j) + by_distance(i - j) + by_key(j) + bias(i, j),
//   cap(x) = c tanh(x / c),
// and exp(sink) is added to the sum of every row, so that rows of P sum to less than 1.
#pragma once

#include <optional>
#include <vector>

#include "data/matrix.h"

namespace fovea {

struct LogitRule {
  double soft_cap = 0;  // c; 0 if logits are not capped (Gemma 2)
  /// [queries + keys - 1]: of i - j + keys - 1. ALiBi slopes, the relative biases of T5.
  std::vector<float> by_distance;
  std::vector<float> by_key;   // [keys]
  Matrix bias;                 // [keys, queries]: transposed, as queries are computed side by side
  std::optional<double> sink;  // natural logarithm (gpt-oss)

  bool has_bias() const { return !by_distance.empty() || !by_key.empty() || !bias.empty(); }
  bool empty() const { return soft_cap == 0 && !has_bias() && !sink; }

  /// The rule of the first `queries` and `keys` of a head that has `all_queries` and `all_keys`.
  LogitRule prefix(Index all_queries, Index all_keys, Index queries, Index keys) const;

  double capped(double logit) const;
  /// log2 of the sum of a row with the sink, from log2 of the sum without it, which is -inf for a
  /// row without keys.
  double with_sink(double log2_sum) const;
  /// What is added to the capped logit of a pair.
  double bias_of(Index i, Index j, Index keys) const;
};

}  // namespace fovea
