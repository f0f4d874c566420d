// FeatureRows are the logarithms of the features of queries and keys, made when they are needed. As
// logarithms they can be neither too large nor too small for a float.
#pragma once

#include <limits>
#include <vector>

#include "backend/isa/attend.h"
#include "data/problem.h"
#include "plan/plan.h"

namespace fovea {

inline constexpr float log2_of_zero = -std::numeric_limits<float>::infinity();

class FeatureRows {
 public:
  static constexpr int chunk = isa::usual_lanes;  // features that are made together

  /// All arguments outlive this.
  FeatureRows(const FeaturePlan& plan, const Problem& problem, const isa::Loops& loops);

  int chunks() const { return chunks_; }
  Index tokens() const { return problem_.n(); }
  int padded() const { return chunks_ * chunk; }  // features, with those that fill the last chunk

  /// s[key][chunk] = log2 phi_r(k_j) for at most isa::max_keys keys; -inf beyond the last feature.
  /// A factor that all keys and features share is left out.
  void keys(IndexRange tokens, int which, float* s) const;

  /// s[chunk][lane] = log2 phi_r(q_i) for `count` queries, without log2_factor(i) of each query.
  /// Lanes beyond the count hold a query of zeros.
  void queries(const Index* queries, int count, int lanes, int which, float* s) const;

  /// log2 of the factor that `keys` and `queries` leave out of phi(q_i) . phi(k_j).
  double log2_factor(Index query) const;

 private:
  int in_chunk(int which) const;  // features

  const FeaturePlan& plan_;
  const Problem& problem_;
  const isa::Loops& loops_;
  int features_, chunks_;
  float unit_;                                          // logits in log2
  std::vector<float, AlignedAllocator<float>> packed_;  // [chunk][d][64] directions
  std::vector<float> half_norm_;                        // [n] log2 e |k^|^2 / 2
};

}  // namespace fovea
