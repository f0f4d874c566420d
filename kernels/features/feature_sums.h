// The sums of features under a causal mask. Tokens go in chunks: a query attends the sums over all
// keys of the chunks before its own, and the keys of its own chunk one by one.
//
// A sum over keys of phi_r(k_j) is held as sum 2^maximum with maximum = max log2 phi_r(k_j).
#pragma once

#include <cuda_runtime.h>

#include "data/matrix.h"

namespace fovea::cuda {

inline constexpr int feature_chunk = 32;  // tokens

/// Some chunks, one after another, and the logarithms of the features of their tokens.
struct FeatureChunks {
  Index first = 0, count = 0;  // chunks
  Index n = 0;                 // tokens of the head
  int features = 0;
  int stride = 0;                // numbers between two rows of what follows
  const float* query = nullptr;  // [count * 32, stride] log2 phi_r(q_i), less factors of each query
  const float* key = nullptr;    // [count * 32, stride] log2 phi_r(k_j)
};

/// Sums over all chunks of a head: [chunks, stride], and one row more where that is said.
struct KeySums {
  float* own_maximum = nullptr;  // over the chunk's own keys
  float* own_sum = nullptr;
  float* maximum = nullptr;  // over all keys before the chunk, -inf where there are none; and in
                             // one row more over all keys
  float* sum = nullptr;      // 0 where there are none
  double* carry = nullptr;   // [stride] the sums over all chunks so far, unrounded; 0 at first
};

/// own_maximum and own_sum of these chunks.
void sum_chunks(const FeatureChunks& chunks, const KeySums& sums, cudaStream_t stream);

/// maximum and sum of these chunks, and the maximum of the next. Chunks go in order, from the first
/// on, whose maximum is set here.
void scan_sums(const FeatureChunks& chunks, const KeySums& sums, cudaStream_t stream);

/// What rows of P are divided by: sum 2^maximum, the maximum being that of all terms.
struct FeatureRowSums {
  float* maximum = nullptr;   // [n]
  float* sum = nullptr;       // [n]
  float* log2_sum = nullptr;  // [n]
  float* pairs = nullptr;  // [n, 32] log2 phi(q_i) . phi(k_j) of the own chunk's keys; -inf: j > i
};

void sum_rows(const FeatureChunks& chunks, const KeySums& sums, const FeatureRowSums& rows,
              cudaStream_t stream);

}  // namespace fovea::cuda
