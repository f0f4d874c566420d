// Clusters of queries or keys that are alike: k-means by Lloyd's algorithm.
#pragma once

#include <cstdint>
#include <vector>

#include "variants/variant.h"

namespace fovea {

struct TokenClusters {
  std::vector<std::int32_t> of_token;  // [n]
  std::vector<Index> sizes;            // [clusters]; may be 0
  Matrix means;                        // [clusters, d], 0 for a cluster without tokens

  Index count() const { return std::ssize(sizes); }
};

/// The first means are `count` of the rows, drawn without replacement from this stream. In each
/// round every row goes to the cluster of the nearest mean, the first among equal ones, and means
/// become those of their rows; a cluster without rows keeps its mean. Rows that are not finite
/// count for no mean, and are in the first cluster. `rounds` is at least 1.
TokenClusters clusters_of(MatrixView rows, Index count, int rounds, std::uint64_t stream,
                          Planning& planning);

/// Clusters that are given, from 0 on.
TokenClusters given_clusters(MatrixView rows, std::vector<std::int32_t> of_token);

}  // namespace fovea
