// A tree builder makes the Tree of Treeformer from the keys of a head, or takes the one given.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/problem.h"
#include "plan/plan.h"
#include "variants/schema.h"
#include "variants/variant.h"

namespace fovea {

/// median: every node splits its keys evenly along their leading principal direction; keys with NaN
/// there go where routing sends them, to the first child, and do not count.
/// random: Gaussian directions of unit length through the origin, so that the leaf of a token
/// depends on nothing but the token and the seed.
enum class TreeKind { median, random };

struct TreeParameters {
  int height = 6;                 // of the binary tree; unused with `branching`
  std::vector<double> branching;  // children per level, root first; empty: binary
  TreeKind tree = TreeKind::median;
};

/// What a branch does to its children: one row of weights by sign, or one row a child by argmax.
struct TreeShape {
  std::vector<int> branching;
  bool by_sign = true;
};

/// Throws UsageError when there would be more than 2^20 leaves or a branching is not an integer.
TreeShape tree_shape(const TreeParameters& parameters);

Tree median_tree(MatrixView keys, const TreeShape& shape, const Backend& backend, Run& run);
Tree random_tree(Index d, const TreeShape& shape, std::uint64_t seed, Index head, Run& run);

/// Tree and leaves of a head: given ones are used, the rest is built and routed (stages "tree",
/// "route"). Fills tree, query_leaf and key_leaf of the plan's structure, and counts the
/// multiply-adds of what it routed. When both leaves are given without a tree, all its weights
/// are 0.
void plant(const Problem& problem, const TreeParameters& parameters, Planning& planning,
           Plan& plan);

/// The parameters of a tree as fields of P, which derives from TreeParameters.
template <class P>
std::vector<TypedField<P>> tree_fields() {
  auto height = int_field<P, int>("height", "Height h", "levels", &P::height, 0, 16, Axis::linear,
                                  "Levels of the binary tree: 2^h leaves. 0: one leaf.");
  auto branching =
      list_field<P>("branching", "Branching", "children", &P::branching, 2, 1 << 20,
                    "Children per level, root first, as in 100,10; the leaves are their "
                    "product. Empty: a binary tree of the given height.");
  auto tree =
      choice_field<P, TreeKind>("tree", "Tree", &P::tree, {"median", "random"},
                                "median: every node splits its keys evenly along their leading "
                                "principal direction. random: random directions through the "
                                "origin.");
  return {std::move(height), std::move(branching), std::move(tree)};
}

}  // namespace fovea
