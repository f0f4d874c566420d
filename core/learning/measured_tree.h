// A MeasuredTree says how good a tree is: its error on rows that it learned from and on rows that
// it did not, and the pairs that meet in its leaves.
#pragma once

#include <span>

#include "analysis/leaf_skew.h"
#include "learning/learning_set.h"
#include "plan/tree.h"

namespace fovea {

struct MeasuredTree {
  /// |Z~ - Z|_F / |Z|_F over rows: of exact attention 0, of Z~ = 0 it is 1.
  double error = 0;           // over the rows learned from
  double held_out_error = 0;  // over the others; NaN where there are none
  LeafSkew skew;              // chi, effective leaves and empty ones, of the set's tokens

  /// Pairs that meet, as a multiple of those in a balanced tree of as many leaves.
  double cost(Index leaves) const { return skew.chi * static_cast<double>(leaves); }
};

/// `alpha`: of TC-attention, [h + 1]; empty means TF-attention, where an empty leaf gives Z = 0.
/// Throws Cancelled.
MeasuredTree measure_tree(const LearningSet& set, const Tree& tree, std::span<const float> alpha,
                          Run& run);

}  // namespace fovea
