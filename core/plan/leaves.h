// The Leaves of a plan: the groups into which it sorts queries and keys, which are the leaves of a
// tree or the buckets of a hash.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "plan/plan.h"

namespace fovea {

struct Leaves {
  std::string kind;                             // "leaf", "bucket"
  std::span<const std::int32_t> queries, keys;  // [nq], [nk] the leaf of every token
  std::vector<int> branching;                   // of the tree above them, root first; empty if none
  Index count = 0;                              // all leaves, whether a token is in them or not
};

/// Nothing if the plan does not sort its tokens into leaves. The result points into the plan.
std::optional<Leaves> leaves_of(const Plan& plan);

/// The tokens in some of the leaves, ascending; `leaf_of`: [n], as in Leaves.
std::vector<Index> tokens_in(std::span<const std::int32_t> leaf_of, IndexRange leaves);

}  // namespace fovea
