// LeafSkew tells how unbalanced leaves or buckets are: the figures of Treeformer.
#pragma once

#include "analysis/diagnostics.h"
#include "plan/leaves.h"

namespace fovea {

/// How queries, or keys, spread over the leaves.
struct SideSkew {
  double effective_leaves = 0;  // 1 / sum of squared shares: within [1, leaves that hold a token]
  double gini = 0;              // 0 if evenly spread, towards 1 if all are in one leaf
  Index empty_leaves = 0;       // leaves that hold none
  Index largest_leaf = 0;       // tokens
};

struct LeafSkew {
  double chi = 0;  // sum |Q_leaf| |K_leaf| / n^2: the share of pairs that meet, within [0, 1]. Its
                   // square is at most the product of the sides' sums of squared shares.
  SideSkew queries, keys;
  Index queries_without_keys = 0;  // queries in leaves without keys
};

/// Tokens of each leaf that occurs, ascending: O(tokens), however many leaves there are.
struct LeafCount {
  std::int32_t leaf = 0;
  Index tokens = 0;
};
std::vector<LeafCount> count_leaves(std::span<const std::int32_t> leaf_of_token, Run& run);

/// O(tokens) time and memory, however many leaves there are. Throws Cancelled.
LeafSkew leaf_skew(const Leaves& leaves, Run& run);

/// The skew of a plan's leaves. A query counts as one without keys if it attends none, under the
/// mask and after climbing to an ancestor.
LeafSkew leaf_skew(const Plan& plan, const Leaves& leaves, Run& run);

/// The skew as figures; `kind` is "leaf" or "bucket".
std::vector<Diagnostic> skew_diagnostics(const LeafSkew& skew, const std::string& kind);

/// The figures of the approximation's plan; empty if the plan does not sort its tokens.
std::vector<Diagnostic> leaf_skew_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
