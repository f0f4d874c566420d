// Weights to look at: matrices of them, and how they are read.
#pragma once

#include <cmath>
#include <cstdint>

#include "analysis/row_bands.h"
#include "data/random.h"

namespace fovea::test {

inline ReadRows reads(const Matrix& p) {
  return [&p](IndexRange rows, Run&) { return Matrix::copy_of(p.view().slice(rows)); };
}

/// Rows that sum to 1. `spread`: the standard deviation of logits.
inline Matrix random_weights(Index n, bool causal, std::uint64_t seed, double spread = 1) {
  Matrix p(n, n);
  Random random(seed, 0);
  for (Index i = 0; i < n; ++i) {
    double sum = 0;
    const Index end = causal ? i + 1 : n;
    for (Index j = 0; j < end; ++j)
      sum += p(i, j) = static_cast<float>(std::exp(spread * random.normal()));
    for (Index j = 0; j < end; ++j) p(i, j) = static_cast<float>(p(i, j) / sum);
  }
  return p;
}

}  // namespace fovea::test
