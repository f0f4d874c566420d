// The gradient of TC's loss by the memberships of queries and keys and by alpha, against the loss.
#include "learning/node_loss.h"

#include <doctest/doctest.h>

#include "learning/memberships.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Branchings 2 and 3: the root, nodes 1 and 2, leaves 3 to 8.
struct TreeBatch {
  static constexpr Index nodes = 9, leaves = 6, keys = 14, queries = 8;
  Matrix values = gaussian(keys, 4, 1), targets = gaussian(queries, 4, 2);
  std::vector<std::int32_t> key_leaf, query_leaf;
  std::vector<Index> admissible;
  std::vector<int> branching{2, 3};
  std::vector<float> alpha{0.25f, -0.75f, 1.5f};

  explicit TreeBatch(bool causal) {
    // Leaf 1 holds no key, leaf 4 one, leaf 5 no query.
    const std::int32_t of_key[] = {0, 0, 2, 3, 3, 3, 0, 2, 5, 4, 5, 3, 2, 0};
    key_leaf.assign(std::begin(of_key), std::end(of_key));
    query_leaf = {0, 1, 2, 3, 4, 0, 4, 3};
    for (Index i = 0; causal && i < queries; ++i) admissible.push_back((i * 5) % (keys + 1));
  }
  NodeBatch view() const {
    return {.values = values,
            .key_leaf = key_leaf,
            .targets = targets,
            .query_leaf = query_leaf,
            .admissible = admissible,
            .branching = branching,
            .alpha = alpha};
  }
  static std::vector<Index> path(Index leaf) { return {0, 1 + leaf / 3, 3 + leaf}; }
  Flags members() const {
    Flags flags(keys, std::vector<bool>(nodes));
    for (std::size_t j = 0; j < keys; ++j)
      for (const Index node : path(key_leaf[j])) flags[j][static_cast<std::size_t>(node)] = true;
    return flags;
  }
  double loss(const Flags& key_at, const std::vector<double>& by_depth, Index i, Index leaf) const {
    const Index seen = admissible.empty() ? keys : admissible[static_cast<std::size_t>(i)];
    return square_distance(coarse_output(values, key_at, path(leaf), by_depth, seen), targets, i);
  }
  double loss(const Flags& key_at, const std::vector<double>& by_depth) const {
    double sum = 0;
    for (Index i = 0; i < queries; ++i)
      sum += loss(key_at, by_depth, i, query_leaf[static_cast<std::size_t>(i)]);
    return sum;
  }
  std::vector<double> depths() const { return {alpha.begin(), alpha.end()}; }
};

}  // namespace

TEST_CASE(
    "the gradient of TC by a query's leaf is its loss there, and outputs are of its own leaf") {
  for (const bool causal : {false, true}) {
    const TreeBatch batch(causal);
    const NodeGradient gradient = node_loss(batch.view());
    const Matrix z = node_outputs(batch.view());
    for (Index i = 0; i < TreeBatch::queries; ++i) {
      for (Index l = 0; l < TreeBatch::leaves; ++l)
        CHECK(at(gradient.by_leaf.queries, i, l) ==
              doctest::Approx(batch.loss(batch.members(), batch.depths(), i, l))
                  .epsilon(rounding(64, 1)));
      const std::vector<double> expected = coarse_output(
          batch.values, batch.members(),
          TreeBatch::path(batch.query_leaf[static_cast<std::size_t>(i)]), batch.depths(),
          causal ? batch.admissible[static_cast<std::size_t>(i)] : TreeBatch::keys);
      for (Index c = 0; c < 4; ++c)
        CHECK(std::abs(at(z, i, c) - expected[static_cast<std::size_t>(c)]) <= rounding(32, 4));
    }
    CHECK(gradient.by_leaf.loss ==
          doctest::Approx(batch.loss(batch.members(), batch.depths())).epsilon(rounding(64, 1)));
  }
}

TEST_CASE(
    "the gradient of TC by a key's leaf sums over its nodes the loss with less that without") {
  for (const bool causal : {false, true}) {
    const TreeBatch batch(causal);
    const NodeGradient gradient = node_loss(batch.view());
    for (std::size_t j = 0; j < TreeBatch::keys; ++j)
      for (Index l = 0; l < TreeBatch::leaves; ++l) {
        CAPTURE(j);
        CAPTURE(l);
        double change = 0, losses = 0;
        for (const Index node : TreeBatch::path(l)) {
          if (node == 0) continue;  // every key is at the root, wherever it goes
          Flags with = batch.members(), without = with;
          with[j][static_cast<std::size_t>(node)] = true;
          without[j][static_cast<std::size_t>(node)] = false;
          const double a = batch.loss(with, batch.depths()),
                       b = batch.loss(without, batch.depths());
          change += a - b;
          losses += a + b;
        }
        CHECK(std::abs(at(gradient.by_leaf.keys, static_cast<Index>(j), l) - change) <=
              rounding(128, losses));
      }
  }
}

TEST_CASE("the gradient of TC by alpha is the difference quotient of the loss") {
  for (const bool causal : {false, true}) {
    const TreeBatch batch(causal);
    const NodeGradient gradient = node_loss(batch.view());
    const double h = 1e-3;  // the loss is quadratic in alpha: a central difference is exact
    for (std::size_t l = 0; l < 3; ++l) {
      std::vector<double> more = batch.depths(), less = more;
      more[l] += h;
      less[l] -= h;
      const double a = batch.loss(batch.members(), more), b = batch.loss(batch.members(), less);
      CHECK(std::abs(static_cast<double>(gradient.alpha[l]) - (a - b) / (2 * h)) <=
            rounding(64, a + b));
    }
  }
}
