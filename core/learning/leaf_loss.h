// The LeafLoss is how far TF-attention is from exact attention over a batch of queries, and how it
// changes with the leaves of queries and keys.
//
// Query i has the output Z_il in leaf l, the mean of the leaf's values weighed by exp(S_ij), and 0
// in a leaf without a key it may attend. Let a_il be 1 where query i is in leaf l, g_jl where key j
// is, t_i exact attention and l(i) the query's leaf. The loss
//   E = sum_i E_i,   E_i = sum_l a_il |Z_il - t_i|^2,   Z_il = sum_j g_jl A_ij v_j / sum_j g_jl
//   A_ij
// is linear in every a_il. So the derivative by a_il is what the loss of query i would be in leaf
// l:
//   dE/da_il = |Z_il - t_i|^2.
// In g_jl it is no polynomial; of all functions with the same values where every g is 0 or 1 the
// multilinear one is taken, whose derivative by g_jl is the loss with key j in leaf l less the loss
// without it, all other keys as they are. With R_i = Z_i - t_i, Z_i the output in leaf l = l(i),
// and p = A_ij / sum of A over the leaf, as E depends on leaf l(i) only:
//   dE/dg_jl = sum over i in l of  2 c R_i.(v_j - Z_i) + c^2 |v_j - Z_i|^2,
//     key j outside the leaf:  c = A_ij / (A_ij + sum over the leaf)   (j comes in: Z moves by c)
//     key j inside the leaf:  the same with c = -p / (1 - p), negated (j goes out)
// and where key j is the only one, its leaving makes Z_i = 0. Nothing is divided by a sum that can
// be 0, and an empty leaf has a gradient: a first-order derivative of N/D has none there.
#pragma once

#include <cstdint>
#include <span>
#include <stop_token>

#include "backend/leaf_gradient.h"

namespace fovea {

/// Keys are in the order of their leaves.
struct LeafBatch {
  static constexpr float no_pair = -1e30f;  // logit of a pair that the mask forbids

  MatrixView logits;                         // [queries, keys] S_ij, or no_pair
  MatrixView values;                         // [keys, dv]
  std::span<const Index> leaf_begin;         // [leaves + 1] the first key of each leaf, and the end
  MatrixView targets;                        // [queries, dv]
  std::span<const std::int32_t> query_leaf;  // [queries]

  Index leaves() const { return static_cast<Index>(leaf_begin.size()) - 1; }
};

/// Work: products of [queries, keys] by dv: one for the outputs in all leaves, and two for the keys
/// of each query's own leaf. Throws Cancelled.
MembershipGradient leaf_loss(const LeafBatch& batch, const std::stop_token& stop = {});

/// Computes the logits from queries and keys too: one more product, of [queries, keys] by d.
MembershipGradient leaf_loss(const TokenBatch& batch, const std::stop_token& stop = {});

}  // namespace fovea
