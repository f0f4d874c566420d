// HyperAttention's algorithm 2 (ApproxD): estimates of the row sums of A = exp(S), from the blocks
// of a sorted hash, sampled keys and the largest sum of a few rows.
#pragma once

#include <span>

#include "variants/variant.h"

namespace fovea {

struct RowSumSamples {
  std::span<const std::int32_t> query_order, key_order;  // [n] token at each sorted position
  Index block = 0;  // M_ij = [floor(pos_Q(i) / block) = floor(pos_K(j) / block)], block < n
  std::span<const std::int32_t> keys;  // [m] drawn uniformly, with replacement
  std::span<const std::int32_t> rows;  // T, at least one
  double epsilon = 1, kappa = 1;       // epsilon > 0, kappa >= 1
};

struct EstimatedSums {
  RowEstimates estimates;    // all but `exactly`
  double multiply_adds = 0;  // of the logits that are summed, whatever others are found with them
};

/// With tau = max over i in T of <1 - M_i, A_i> and the natural logarithm,
///   C_i = epsilon^2 m / (n log n) (<M_i, A_i> + tau / kappa),
///   d_i = n/m sum over drawn j with M_ij = 0 of min(A_ij, C_i),
/// and the estimate of the row sum is <M_i, A_i> + max(d_i, tau / kappa), as in line 8.
/// Logits are products of the back end in float32, sums are in double and kept as logarithms, so
/// that no logit overflows. O(n (block + m) + n |T|) products of length d; beside
/// O(n) numbers, 256 x 1024 logits and their rows and columns are in memory at a time.
/// Stages "row sums" and "tau". Throws Cancelled.
EstimatedSums estimate_row_sums(const Problem& problem, const RowSumSamples& samples,
                                Planning& planning);

}  // namespace fovea
