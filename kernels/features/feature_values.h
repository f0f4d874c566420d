// Z of features under a causal mask, chunk by chunk: the sums of phi_r(k_j) v_j over the keys
// before each chunk, and what its queries read of them and of the values of its own keys.
#pragma once

#include "features/feature_sums.h"

namespace fovea::cuda {

struct FeatureValueArgs {
  FeatureChunks chunks;
  KeySums sums;
  FeatureRowSums rows;
  const float* v = nullptr;  // [n, stride]
  int stride = 0;            // of v, states and z: a multiple of 4
  /// [count, features, stride]: of each of these chunks the sums over its own keys, relative to
  /// own_maximum; then those over all keys before it, relative to maximum.
  float* states = nullptr;
  double* carry = nullptr;  // [features, stride] the sums over all chunks so far; 0 at first
  float* z = nullptr;       // [n, stride]
};

/// Each is called in this order, for chunks in order.
void sum_values(const FeatureValueArgs& args, cudaStream_t stream);
void scan_values(const FeatureValueArgs& args, cudaStream_t stream);
void attend_features(const FeatureValueArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
