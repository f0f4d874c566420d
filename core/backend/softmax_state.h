// A SoftmaxState is the running softmax of consecutive clusters of queries, logits in log2 units.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "data/matrix.h"

namespace fovea {

class SoftmaxState {
 public:
  /// For `count` clusters from cluster 0 on, and values of `dv` columns; with dv = 0 only the sums
  /// are kept.
  SoftmaxState(Index count, Index dv)
      : z(Matrix::uninitialised(count, dv)), maximum_(count), sum_(count) {}

  /// Weighted values, not yet divided by the sum; undefined where fresh.
  Matrix z;

  /// Reuses the memory for the clusters from `first` on.
  void move_to(Index first) { first_ = first; }
  /// Makes clusters fresh: they have no key so far.
  void clear(IndexRange clusters) {
    std::fill_n(&maximum(clusters.begin), clusters.size(), -std::numeric_limits<float>::infinity());
    std::fill_n(&sum(clusters.begin), clusters.size(), 0.0f);
  }

  float* row(Index cluster) { return z.row(cluster - first_); }
  const float* row(Index cluster) const { return z.row(cluster - first_); }
  float& maximum(Index cluster) { return maximum_[at(cluster)]; }
  float& sum(Index cluster) { return sum_[at(cluster)]; }
  float maximum(Index cluster) const { return maximum_[at(cluster)]; }
  float sum(Index cluster) const { return sum_[at(cluster)]; }

  // Not `!(sum > 0)`: the sum of a row with NaN is NaN, which is not a row without keys.
  bool fresh(Index cluster) const { return sum(cluster) == 0; }

  float log2_sum(Index cluster) const {
    return fresh(cluster) ? -std::numeric_limits<float>::infinity()
                          : static_cast<float>(static_cast<double>(maximum(cluster)) +
                                               std::log2(static_cast<double>(sum(cluster))));
  }

 private:
  std::size_t at(Index cluster) const { return cluster - first_; }

  Index first_ = 0;
  std::vector<float> maximum_, sum_;
};

}  // namespace fovea
