// A Tree routes a vector from the root to a leaf (Treeformer, Madaan et al. 2022, section 3).
#pragma once

#include <cstdint>
#include <vector>

#include "data/matrix.h"

namespace fovea {

/// A level with `branching` children at each of its nodes, which are counted from the left.
/// Binary by sign: one row (w, b) per node, right child iff w.x + b >= 0.
/// k-ary: `branching` rows per node, child = argmax_c (w_c.x + b_c), lowest index on ties.
struct TreeLevel {
  int branching = 2;
  bool by_sign = true;      // only with branching == 2
  Matrix weight;            // [nodes * (by_sign ? 1 : branching), d]
  std::vector<float> bias;  // one per row of weight
};

struct Tree {
  std::vector<TreeLevel> levels;  // root first; none means a single leaf

  int height() const { return static_cast<int>(levels.size()); }
  /// Nodes at depth l (0: the root), the product of the branchings above it.
  Index nodes(int depth) const {
    Index count = 1;
    for (int l = 0; l < depth; ++l) count *= levels[l].branching;
    return count;
  }
  Index leaves() const { return nodes(height()); }
};

}  // namespace fovea
