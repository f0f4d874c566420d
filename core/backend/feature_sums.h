// FeatureSums are, for each feature r, the sum of phi_r(k_j) and of phi_r(k_j) v_j over some keys
// j, as a streaming softmax over the keys holds them: relative to the largest phi_r(k_j).
#pragma once

#include <vector>

#include "backend/feature_rows.h"

namespace fovea {

struct FeatureSums {
  std::vector<float, AlignedAllocator<float>> maximum;  // [features] log2; -inf at first
  std::vector<float, AlignedAllocator<float>> sum;      // [features] of phi / 2^maximum
  Matrix values;                                        // [features, dv] of phi v / 2^maximum

  /// Sums over no keys. `features` are whole chunks, dv is a multiple of 16 or 0.
  FeatureSums(int features, Index dv);

  /// Adds keys to one chunk of features; `s` is memory for isa::max_keys x chunk floats.
  void add(const FeatureRows& rows, IndexRange tokens, int chunk, MatrixView v,
           const isa::Loops& loops, float* s);

  /// Adds the sums of another; each is rounded once.
  void add(const FeatureSums& other);

  /// log2 of the sum of phi_r(k_j), and the mean value with these weights.
  void means(std::vector<float>& log2_sum, Matrix& mean) const;
};

}  // namespace fovea
