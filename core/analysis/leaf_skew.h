// LeafSkew says how far leaves (or buckets) are from balanced: the figures of Treeformer.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/diagnostics.h"

namespace fovea {

struct LeafSkew {
  double chi = 0;                  // sum |Q_leaf| |K_leaf| / n^2: the share of pairs that meet
  double effective_leaves = 0;     // 1 / chi
  double gini = 0;                 // of the keys over the leaves: 0 even, near 1 all in one
  Index empty_leaves = 0;          // that hold no key
  Index queries_without_keys = 0;  // queries in such leaves
  Index largest_leaf = 0;          // keys
};

/// Buckets of a hash of whole bits: the power of two that holds every bucket met.
Index bucket_count(std::span<const std::int32_t> queries, std::span<const std::int32_t> keys);

/// How many tokens each leaf holds: at least `count` leaves, more when a token names one.
std::vector<Index> sizes_of(std::span<const std::int32_t> leaf, Index count);

/// Sizes per leaf, in the same order.
LeafSkew leaf_skew(std::span<const Index> queries, std::span<const Index> keys);

/// As figures; `kind` is "leaf" or "bucket".
std::vector<Diagnostic> skew_diagnostics(const LeafSkew& skew, const std::string& kind);

}  // namespace fovea
