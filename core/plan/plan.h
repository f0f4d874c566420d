// A Plan says what the effective attention matrix P is, without computing it: which pairs of query
// and key are evaluated, at which level of the token pyramid and with which weight, or which tree
// nodes they share. It is what the window draws, what cost is counted from and what a back end
// runs.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "plan/tree.h"

namespace fovea {

/// A pair (query i, key j) counts iff lo <= i - j <= hi. Causal is {0, unbounded}.
struct Band {
  static constexpr Index unbounded = std::numeric_limits<std::int32_t>::max();
  Index lo = -unbounded, hi = unbounded;

  bool contains(Index i, Index j) const { return lo <= i - j && i - j <= hi; }
  bool everything() const { return lo == -unbounded && hi == unbounded; }
  friend bool operator==(const Band&, const Band&) = default;
};

/// Every pair of a row position and a column position of its Pass that lies in the band.
struct Tile {
  IndexRange rows, cols;  // positions in Pass::rows and Pass::cols
  Band band = {};         // on token indices, so only used at level 0
};

/// A Pass is one set of tiles over one ordering of queries and one of keys.
/// At level l an index names the cluster of tokens [index << l, (index + 1) << l), cut off at n:
/// its key is the mean of its keys, its value the mean of its values.
struct Pass {
  int query_level = 0, key_level = 0;
  std::vector<std::int32_t> rows;  // row position -> query or query cluster; empty: identity
  std::vector<std::int32_t> cols;  // column position -> key or key cluster; empty: identity
  /// How many keys a column stands for (its exp is multiplied by this); empty: as many as the
  /// cluster has tokens, which is 1 at level 0.
  std::vector<float> weight;
  /// Row ranges of two tiles are equal or disjoint; tiles of equal row ranges are adjacent.
  std::vector<Tile> tiles;
};

/// How a cluster of queries is represented at query_level > 0.
enum class CoarseQuery { first, mean };

/// One softmax over the union of all passes: P_ij = w_ij exp(S_IJ) / sum of the same over j.
/// No pair (i, j) belongs to two tiles. A query in no tile has Z = 0, lse = -inf.
struct TilePlan {
  std::vector<Pass> passes;
  CoarseQuery coarse_query = CoarseQuery::first;
};

/// Tree attention without logits (Treeformer TC): P_ij = sum over depths l of
/// alpha_l [query i and key j share the node at depth l] / |keys of that node|.
/// A node without (admissible) keys contributes 0. The node at depth l is the leaf divided by the
/// leaves below a node of that depth.
struct NodePlan {
  std::vector<int> branching;            // [h]
  std::vector<std::int32_t> query_leaf;  // [n]
  std::vector<std::int32_t> key_leaf;    // [n]
  std::vector<float> alpha;              // [h + 1], root first
};

/// What a planner drew or derived, as it is shown, written by `compute -o` and read back by
/// `--structure`. Empty: the variant has no such thing (or, on input: derive it).
struct Structure {
  std::vector<std::int32_t> query_order;   // [n] token at each sorted position; hyper with a causal
  std::vector<std::int32_t> key_order;     //     mask: [depths, n], one permutation per halving
  std::vector<std::int32_t> sampled_keys;  // [m]; causal: [nodes, m], nodes breadth first
  std::vector<std::int32_t> query_leaf;    // [n]
  std::vector<std::int32_t> key_leaf;      // [n]
  std::vector<std::int32_t> query_bucket;  // [n] LSH bucket (position in the Gray sequence)
  std::vector<std::int32_t> key_bucket;    // [n]
  std::vector<float> alpha;                // [h + 1]
  Tree tree;
};

/// What is there of a structure: "query_order", ..., "alpha", "tree".
std::vector<std::string> member_names(const Structure& structure);

struct Plan {
  Index n = 0;
  bool causal = false;
  std::variant<TilePlan, NodePlan> form;
  Structure structure;
  /// What planning itself multiplied: hashing (2 n d r), routing (n d for every level and side;
  /// none for leaves that were given). Building a tree is not counted: the paper learns it
  /// beforehand.
  double planning_multiply_adds = 0;
  std::vector<std::string> notes;  // what the user must know: "n < min_length: computed exactly"
};

/// Number of clusters of 2^level tokens that n tokens fill.
constexpr Index clusters(Index n, int level) {
  return (n + (Index{1} << level) - 1) >> level;
}

/// Tokens of cluster `index` at `level`.
constexpr IndexRange cluster_tokens(Index index, int level, Index n) {
  const Index begin = index << level, end = (index + 1) << level;
  return {begin, end < n ? end : n};
}

/// Throws Error (an internal error) unless all tiles lie inside their orders and no pair is covered
/// twice. O(pairs); for tests.
void check_disjoint(const Plan& plan);

}  // namespace fovea
