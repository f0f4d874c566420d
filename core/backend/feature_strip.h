// A FeatureStrip is up to 64 queries of a FeaturePlan that go through features and keys together:
// the memory of one thread.
#pragma once

#include <span>
#include <vector>

#include "backend/feature_rows.h"

namespace fovea {

class FeatureStrip {
 public:
  static constexpr int most = isa::usual_lanes;
  static constexpr int most_causal = 16;  // queries of one piece under a causal mask

  FeatureStrip(const FeatureRows& rows, const isa::Loops& loops);

  /// Makes the features of these queries, at most `most`. Forgets everything that was attended
  /// before.
  void begin(std::span<const Index> queries);

  /// Attends features, each of which counts 2^log2_sum times and stands for a mean value. `mean`
  /// has the padded width of the values, or width 0 to leave values out.
  void attend(std::span<const float> log2_sum, const Matrix& mean, Matrix& z, Index first);

  /// Attends the keys `tokens`, at most most_causal of them; query i attends those with j <= i.
  void attend_keys(IndexRange tokens, MatrixView v, Matrix& z, Index first);

  /// Divides z by the sums. A query without a key has zeros.
  void divide(Matrix& z, Index first) const;
  /// log2 of the sum of all that lane i attended, relative to its largest feature.
  float log2_sum(int lane) const;
  /// log2 of that feature.
  float log2_largest(int lane) const { return largest_[lane]; }

  /// s[key][lane] = P_ij for all keys of a block of `chunk` tokens, from the log2_sum of each
  /// query. Entries with j > i are 0 if `causal`. An entry does not depend on the other queries.
  void entries(Index block, std::span<const float> log2_sums, bool causal, float* s);
  IndexRange block_tokens(Index block) const;

  int lanes() const { return lanes_; }

 private:
  void make_keys(IndexRange tokens);
  void pair_logits(IndexRange tokens);
  void factored_entries(IndexRange tokens, const float* sums, float* s);
  void own_entries(IndexRange tokens, const float* sums, float* s);
  void step(int keys, const float* const* values, Index width, Matrix& z, Index first);

  const FeatureRows& rows_;
  const isa::Loops& loops_;
  std::span<const Index> queries_;
  int lanes_ = 0;

  using Floats = std::vector<float, AlignedAllocator<float>>;
  Floats query_;   // [feature][lane] log2 phi_r(q_i), less the largest of each query
  Floats key_;     // [chunk][key][64] log2 phi_r(k_j)
  Floats s_;       // [key][lane]
  Floats copy_;    // [64][lane]
  Floats row_;     // [key][feature] of entries
  Floats weight_;  // [feature][lane] of entries
  alignas(64) float maximum_[most] = {}, sum_[most] = {}, rescale_[most] = {};
  alignas(64) float largest_[most] = {};
};

}  // namespace fovea
