// A tree builder makes the Tree of Treeformer from the keys of a head, or takes the one given.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/problem.h"
#include "plan/plan.h"
#include "plan/tree.h"
#include "variants/schema.h"
#include "variants/variant.h"

namespace fovea {

/// median: every node splits its keys evenly along their leading principal direction; keys with NaN
/// there go where routing sends them, to the first child, and do not count.
/// random: Gaussian directions of unit length through the origin, so that the leaf of a token
/// depends on nothing but the token and the seed.
/// learned: learned from the median tree, for the outputs of exact attention (core/learning).
/// single: all tokens go to the last leaf, as in T_0 of Lemma 1.
enum class TreeKind { median, random, learned, single };

inline constexpr int standard_height = 6, most_height = 16;

struct TreeParameters {
  int height = standard_height;   // of the binary tree; unused with `branching`
  std::vector<double> branching;  // children per level, root first; empty means binary
  TreeKind tree = TreeKind::median;
  int steps = 300;     // of learning, 256 queries each; unused by other trees
  double cost = 1.15;  // limit of chi * leaves of a learned tree
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
/// w = 0 everywhere, and b = 1 for the last child of each node, b = 0 for others (Lemma 1).
Tree single_tree(Index d, const TreeShape& shape);
/// The tree of a head that is not learned, or from which learning begins.
Tree start_tree(TreeKind kind, const Problem& problem, const TreeShape& shape, std::uint64_t seed,
                const Backend& backend, Run& run);

/// A tree and the leaves to which it routes the tokens of a head.
struct RoutedTree {
  Tree tree;
  std::vector<std::int32_t> query_leaf, key_leaf;  // [nq], [nk]
  std::vector<float> alpha = {};                   // learned with the tree; empty if it was not
};

struct LearningGoal;

/// The stage in which a tree is built, which the paper learns beforehand.
inline constexpr const char* building_stage = "tree";

/// What routed_tree() writes into a plan's structure and takes from a given one.
std::vector<TensorField> routed_tree_tensors();

/// Tree and leaves of a head: given ones are used, the rest is built, or learned towards the goal,
/// and routed (stages "tree", "route"). Records them in the plan, with the multiply-adds of what
/// was routed. When both leaves are given without a tree, all its weights are 0.
RoutedTree routed_tree(const Problem& problem, const TreeParameters& parameters,
                       const LearningGoal& goal, Planning& planning, Plan& plan);

/// The height for a short head: about 16 tokens a leaf.
std::int64_t short_height(Index n);
/// The height for a head of n tokens and those around it, from two leaves to two tokens a leaf.
std::vector<Value> heights_to_try(Index n);
/// The leaves of a list of branchings; nothing for an empty list.
std::optional<double> leaves_of_branching(const Value& branching);

/// The parameters of a tree as fields of P, which derives from TreeParameters.
template <class P>
std::vector<TypedField<P>> tree_fields() {
  auto height =
      int_field<P, int>("height", "Height h", "levels", &P::height, 0, most_height, Axis::linear,
                        "Levels of the binary tree: 2^h leaves. 0: one leaf.");
  height.field.span = [](const Value& v) {
    return std::optional(std::exp2(static_cast<double>(std::get<std::int64_t>(v))));
  };
  height.field.for_short_head = [](Index n) { return Value(short_height(n)); };
  height.field.worth_trying = heights_to_try;
  auto branching =
      list_field<P>("branching", "Branching", "children", &P::branching, 2, 1 << 20,
                    "Children per level, root first, as in 100,10; the leaves are their "
                    "product. Empty: a binary tree of the given height.");
  branching.field.span = [](const Value& v) { return leaves_of_branching(v); };
  branching.field.followers = {"height"};
  auto tree =
      choice_field<P, TreeKind>("tree", "Tree", &P::tree, {"median", "random", "learned", "single"},
                                "median: every node splits its keys evenly along their leading "
                                "principal direction. random: random directions through the "
                                "origin. learned: from the median tree, for the outputs of exact "
                                "attention. single: w = 0 and b = 1, so that all tokens meet in "
                                "the last leaf (T₀ of Lemma 1).");
  // A learned tree takes seconds, and is compared where it is asked for.
  tree.field.worth_trying = [](Index) {
    return std::vector<Value>{std::string("median"), std::string("random")};
  };
  auto steps = int_field<P, int>("steps", "Steps", "steps", &P::steps, 1, 10000, Axis::log2,
                                 "Steps of learning, each on 256 queries.");
  auto cost = real_field<P>("cost", "Cost limit", "", &P::cost, 0.01, 1000, Axis::log2,
                            "Pairs that may meet in the leaves of a learned tree, as a multiple "
                            "of those of a balanced tree: χ times the leaves.");
  for (auto* of_learning : {&steps.field, &cost.field})
    of_learning->only_with = {{"tree", "learned"}};
  return {std::move(height), std::move(branching), std::move(tree), std::move(steps),
          std::move(cost)};
}

}  // namespace fovea
