// A MeasuredTree says how good a tree is: its error on rows that it learned from and on rows that
// it did not, and the pairs that meet in its leaves.
#pragma once

#include <span>

#include "analysis/leaf_skew.h"
#include "learning/learning_set.h"
#include "plan/tree.h"

namespace fovea {

struct MeasuredTree {
  /// |Z~ - Z|_F / |Z|_F over rows: 0 for exact attention, 1 for Z~ = 0.
  double error = 0;           // over the rows learned from
  double held_out_error = 0;  // over held-out rows; NaN without them
  LeafSkew skew;              // chi, effective leaves and empty ones, of the set's tokens

  /// Pairs that meet, as a multiple of those in a balanced tree of as many leaves.
  double cost(Index leaves) const { return skew.chi * static_cast<double>(leaves); }
};

/// `alpha` [h + 1] is that of TC-attention; if it is empty, TF-attention is measured, in which an
/// empty leaf gives Z = 0. Throws Cancelled.
MeasuredTree measure_tree(const LearningSet& set, const Tree& tree, std::span<const float> alpha,
                          Run& run);

}  // namespace fovea
