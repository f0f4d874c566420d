// The way between trees and their weights, and the gradient by weights against finite differences.
#include "learning/tree_weights.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "learning/memberships.h"
#include "learning/sets.h"
#include "variants/tree_builder.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// What the way back from leaves is the derivative of, in float64: the sum over tokens and
/// decisions (child c rather than the one taken, t) of the change that the decision brings, times f
/// = u_c - u_t clipped to [-1, 1]. The changes and the children taken are those of the weights at
/// first.
class Surrogate {
 public:
  Surrogate(const TreeWeights& weights, MatrixView points, const Matrix& change, Credit credit)
      : levels_(weights.levels()), points_(points) {
    const std::vector<double> values(weights.values().begin(), weights.values().end());
    for (Index x = 0; x < points.rows; ++x) {
      const std::function<double(std::size_t, Index)> value = [&](std::size_t depth, Index node) {
        if (depth == levels_.size()) return at(change, x, node);
        const auto& level = levels_[depth];
        if (credit == Credit::path)
          return value(depth + 1, node * level.branching + taken(values, x, depth, node));
        double sum = 0;
        for (Index c = 0; c < level.branching; ++c)
          sum += value(depth + 1, node * level.branching + c);
        return sum;
      };
      Index on_path = 0;
      for (std::size_t depth = 0; depth < levels_.size(); ++depth) {
        const auto& level = levels_[depth];
        for (Index node = 0; node < level.nodes; ++node) {
          if (credit == Credit::path && node != on_path) continue;
          const Index t = taken(values, x, depth, node);
          for (Index c = 0; c < level.branching; ++c)
            if (c != t)
              decisions_.push_back({x, depth, node, c, t,
                                    value(depth + 1, node * level.branching + c) -
                                        value(depth + 1, node * level.branching + t)});
        }
        on_path = on_path * level.branching + taken(values, x, depth, on_path);
      }
    }
  }

  double operator()(const std::vector<double>& values) const {
    double sum = 0;
    for (const Decision& d : decisions_) sum += d.change * std::clamp(f(values, d), -1.0, 1.0);
    return sum;
  }
  /// How near a decision is to where it is not differentiable.
  double margin(const std::vector<double>& values) const {
    double least = 1;
    for (const Decision& d : decisions_) {
      const double size = std::abs(f(values, d));
      least = std::min({least, size, std::abs(size - 1)});
    }
    return least;
  }
  double size() const {
    double sum = 0;
    for (const Decision& d : decisions_) sum += std::abs(d.change);
    return sum;
  }

 private:
  struct Decision {
    Index token;
    std::size_t depth;
    Index node, child, taken;
    double change;
  };

  double score(const std::vector<double>& values, Index x, std::size_t depth, Index node,
               Index child) const {
    const auto& level = levels_[depth];
    if (level.by_sign && child == 0) return 0;
    const Index d = points_.cols,
                row = level.first_row + (level.by_sign ? node : node * level.branching + child);
    double sum = values[static_cast<std::size_t>(row * (d + 1) + d)];
    for (Index c = 0; c < d; ++c)
      sum += values[static_cast<std::size_t>(row * (d + 1) + c)] * at(points_, x, c);
    return sum;
  }
  Index taken(const std::vector<double>& values, Index x, std::size_t depth, Index node) const {
    Index best = 0;
    for (Index c = 1; c < levels_[depth].branching; ++c)
      if (score(values, x, depth, node, c) > score(values, x, depth, node, best)) best = c;
    return best;
  }
  double f(const std::vector<double>& values, const Decision& d) const {
    return score(values, d.token, d.depth, d.node, d.child) -
           score(values, d.token, d.depth, d.node, d.taken);
  }

  std::vector<TreeWeights::Level> levels_;
  MatrixView points_;
  std::vector<Decision> decisions_;
};

const TreeShape binary{{2, 2, 2}, true}, k_ary{{3, 4}, false};

}  // namespace

TEST_CASE(
    "the gradient by weights is the difference quotient of the clipped straight-through sum") {
  Profile profile;
  Run run{profile};
  const LearningSet set = learning_set(60, 5, 2);
  for (const TreeShape& shape : {binary, k_ary})
    for (const Credit credit : {Credit::path, Credit::dense}) {
      CAPTURE(shape.by_sign);
      CAPTURE(static_cast<int>(credit));
      const Tree tree = median_tree(set.keys, shape, *backends().front(), run);
      const TreeWeights weights(tree, set);
      const MatrixView points = set.query_points.view().slice({0, 20});
      const Matrix change = gaussian(20, tree.leaves(), 4);
      std::vector<float> gradient(weights.values().size());
      weights.add_gradient(points, weights.scores(points), change, credit, gradient);

      const Surrogate surrogate(weights, points, change, credit);
      const std::vector<double> values(weights.values().begin(), weights.values().end());
      // Scores move by at most h |x'| <= 10 h, so that no decision comes to its kink.
      const double h = 1e-7;
      REQUIRE(surrogate.margin(values) > 10 * h);
      double worst = 0, largest = 0;
      for (std::size_t i = 0; i < values.size(); ++i) {
        std::vector<double> more = values, less = values;
        more[i] += h;
        less[i] -= h;
        const double quotient = (surrogate(more) - surrogate(less)) / (2 * h);
        worst = std::max(worst, std::abs(quotient - static_cast<double>(gradient[i])));
        largest = std::max(largest, std::abs(quotient));
      }
      // The quotient loses 2^-53 / h of the sum, the gradient a rounding for each of its terms.
      CHECK(worst <= surrogate.size() * (0x1p-50 / h + 4 * 20 * 0x1p-24));
      CHECK(largest > 0.1);
    }
}

TEST_CASE("a binary node by argmax has the gradient of the same node by sign") {
  const LearningSet set = learning_set(50, 4, 3);
  Tree by_sign, by_argmax;
  by_sign.levels.push_back({2, true, gaussian(1, 4, 9), {0.1f}});
  by_argmax.levels.push_back({2, false, Matrix(2, 4), {0, 0.1f}});
  std::copy_n(by_sign.levels[0].weight.row(0), 4, by_argmax.levels[0].weight.row(1));
  const Matrix change = gaussian(set.query_points.rows(), 2, 8);
  const auto gradient_of = [&](const Tree& tree) {
    const TreeWeights weights(tree, set);
    std::vector<float> gradient(weights.values().size());
    weights.add_gradient(set.query_points, weights.scores(set.query_points), change, Credit::dense,
                         gradient);
    return gradient;
  };
  const std::vector<float> one = gradient_of(by_sign), two = gradient_of(by_argmax);
  REQUIRE(two.size() == 10);
  for (std::size_t c = 0; c < 5; ++c) {
    CHECK(two[5 + c] == doctest::Approx(static_cast<double>(one[c])).epsilon(1e-5));
    CHECK(two[c] == -two[5 + c]);
  }
}

TEST_CASE("weights made from a tree route as the tree does, and give it back") {
  Profile profile;
  Run run{profile};
  const LearningSet set = learning_set(200, 6, 5);
  for (const TreeShape& shape : {binary, k_ary}) {
    const Tree tree = median_tree(set.keys, shape, *backends().front(), run);
    const TreeWeights weights(tree, set);
    const auto expected = backends().front()->route(set.keys, tree, run);
    // No key of this data lies within a rounding of a threshold.
    CHECK(weights.leaves_of(set.key_points) == expected);
    CHECK(weights.leaves_of_scores(weights.scores(set.key_points)) == expected);
    CHECK(leaves_under(tree, set.keys) == expected);
    CHECK(leaves_under(weights.tree(set), set.keys) == expected);
    CHECK(weights.leaves() == tree.leaves());
    CHECK(weights.top(1).leaves() == tree.levels[0].branching);
  }
}
