// A step of learning a tree, as a back end computes it: how the loss of a batch of queries changes
// with the leaves of queries and keys (core/learning/leaf_loss.h).
#pragma once

#include <cstdint>
#include <span>

#include "data/matrix.h"

namespace fovea {

/// A batch of queries, and the keys in the order of their leaves.
struct TokenBatch {
  MatrixView queries, targets;               // [queries, d], and [queries, dv] exact attention
  std::span<const std::int32_t> query_leaf;  // [queries]
  std::span<const Index> admissible;  // [queries] each may attend keys with place < this number;
                                      // empty if it may attend all
  MatrixView keys, values;            // [keys, d] and [keys, dv]
  std::span<const Index> place;       // [keys] place of each in the sequence
  std::span<const Index> leaf_begin;  // [leaves + 1] the first key of each, and the end
  float scale = 1;                    // of logits

  Index leaves() const { return static_cast<Index>(leaf_begin.size()) - 1; }
};

struct MembershipGradient {
  double loss = 0;  // E
  Matrix queries;   // [queries, leaves] dE/da
  Matrix keys;      // [keys, leaves] dE/dg
};

}  // namespace fovea
