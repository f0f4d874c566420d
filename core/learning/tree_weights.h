// TreeWeights are the weights of a tree while it learns, and the way back from its leaves to them.
//
// A Dense Gradient Tree (Karthikeyan et al. 2021; Treeformer, section 3) is hard in the forward
// pass: a node compares the scores of its children, u_c = w_c.x + b_c, and the token goes to the
// child t with the largest; a binary node by sign has u_0 = 0 and u_1 = w.x + b. In the backward
// pass a decision "child c rather than t" is the step function of f = u_c - u_t, differentiated
// straight through where |f| <= 1 and as constant elsewhere. For a node by sign that is the paper's
// sign(f) clipped to |f| <= 1; for k children it is the same for each child beside the one taken.
//
// What remains is the change that a decision brings, from a number G_l for each leaf, the change of
// the loss if the token were (more) in leaf l:
//   dense  as in the papers: the score of a leaf is the sum over its path of the signed bits, and
//          the arg-max over scores is differentiated as identity. The change is the sum of G over
//          the leaves below c less that below t, at every node: every leaf gets a gradient.
//   path   the change of the loss if only this decision were taken the other way: G of the leaf
//          that the token would then come to, less G of the leaf where it is, at the nodes of its
//          path.
// `dense` weighs leaves that the token would never come to as much as the one that it would.
#pragma once

#include <cstdint>
#include <vector>

#include "learning/learning_set.h"
#include "plan/tree.h"

namespace fovea {

enum class Credit { path, dense };

class TreeWeights {
 public:
  struct Level {
    int branching = 2;
    bool by_sign = true;
    Index nodes = 1, first_row = 0;

    Index rows_of_node() const { return by_sign ? 1 : branching; }
  };

  TreeWeights() = default;
  /// The same tree in the coordinates of the set. Every node is scaled so that f, with k children
  /// that of the first two, has the standard deviation 1 over the tokens to learn from: decisions
  /// stay as they are.
  TreeWeights(const Tree& tree, const LearningSet& set);

  int height() const { return static_cast<int>(levels_.size()); }
  Index leaves() const { return nodes_below(height()); }
  const std::vector<Level>& levels() const { return levels_; }
  /// [rows, d + 1] w and b, level by level, node by node, child by child.
  const std::vector<float>& values() const { return values_; }
  std::vector<float>& values() { return values_; }

  /// The weights of the first levels alone.
  TreeWeights top(int height) const;
  /// Appends a level whose weights are normal with variance 1/d and whose biases are 0.
  void grow(int branching, bool by_sign, std::uint64_t seed, Index head);

  /// The tree in the coordinates of the head.
  Tree tree(const LearningSet& set) const;

  /// Scores of all rows: [tokens, rows].
  Matrix scores(MatrixView points) const;
  /// The leaf of each token.
  std::vector<std::int32_t> leaves_of(MatrixView points) const;
  std::vector<std::int32_t> leaves_of_scores(const Matrix& scores) const;

  /// Adds the gradient by all weights to `gradient` (as values()). change: [tokens, leaves], G.
  void add_gradient(MatrixView points, const Matrix& scores, const Matrix& change, Credit credit,
                    std::vector<float>& gradient) const;

 private:
  Index d_ = 0;
  std::vector<Level> levels_;
  std::vector<float> values_;

  Index rows() const { return static_cast<Index>(values_.size()) / (d_ + 1); }
  Index nodes_below(int depth) const;
  void add_level(int branching, bool by_sign);
};

/// The leaf of each row of x under a tree.
std::vector<std::int32_t> leaves_under(const Tree& tree, MatrixView x);

}  // namespace fovea
