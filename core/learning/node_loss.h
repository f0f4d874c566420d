// The NodeLoss is how far TC-attention is from exact attention over a batch of queries, and how it
// changes with the leaves of queries and keys and with alpha.
//
// Z_i = sum_l alpha_l M_l(i), M_l(i) the mean of the values at the query's node of depth l, and 0
// where it holds no key that the query may attend. With the memberships a, g and the outputs Z_ic
// that query i would have in leaf c, as in leaf_loss.h:
//   E = sum_i |Z_i - t_i|^2,   dE/da_ic = |Z_ic - t_i|^2,   dE/dalpha_l = sum_i 2 R_i.M_l(i).
// A key is in a node at each depth. E is taken as multilinear in its memberships of nodes: the
// derivative by that of node m at depth l is the loss with key j in the node less that without it,
// all other nodes as they are. Let Q be the number of queries in m and R the sum of their R_i; its
// mean moves by delta when the key comes in (or goes out):
//   dE/dg_jm = +- (2 alpha_l R.delta + alpha_l^2 Q |delta|^2),
//     comes in:  delta = (v_j - M) / (|m| + 1)
//     goes out:  delta = -(v_j - M) / (|m| - 1), or -M where it is the only one; negated
// and the derivative by its membership of a leaf is the sum over the nodes above the leaf. Under a
// causal mask every query has means of its own, and its part of the sum is added for itself.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>
#include <vector>

#include "learning/leaf_loss.h"

namespace fovea {

/// Plain data. Keys are in sequence order.
struct NodeBatch {
  MatrixView values;                         // [keys, dv]
  std::span<const std::int32_t> key_leaf;    // [keys]
  MatrixView targets;                        // [queries, dv]
  std::span<const std::int32_t> query_leaf;  // [queries]
  std::span<const Index>
      admissible;                  // [queries] number of keys that it may attend; empty means all
  std::span<const int> branching;  // [h] of the tree, root first
  std::span<const float> alpha;    // [h + 1]
};

struct NodeGradient {
  MembershipGradient by_leaf;
  std::vector<float> alpha;  // [h + 1]
};

/// Throws Cancelled.
NodeGradient node_loss(const NodeBatch& batch, std::stop_token stop = {});

/// The outputs Z, [queries, dv]. `targets` only say how many queries there are. Throws Cancelled.
Matrix node_outputs(const NodeBatch& batch, const std::stop_token& stop = {});

}  // namespace fovea
