#include "learning/measured_tree.h"

#include <Eigen/Dense>
#include <cmath>
#include <limits>

#include "learning/node_loss.h"
#include "learning/tree_weights.h"

namespace fovea {
namespace {

using Row = Eigen::RowVectorXf;
using Vector = Eigen::Map<const Row>;

std::vector<Index> admissible_keys(const LearningSet& set) {
  std::vector<Index> out;
  for (Index i = 0; set.causal && i < set.queries.rows(); ++i) out.push_back(set.admissible(i));
  return out;
}

/// Z of every query: the softmax over the keys of its leaf.
Matrix leaf_outputs(const LearningSet& set, Index leaves, std::span<const std::int32_t> query_leaf,
                    std::span<const std::int32_t> key_leaf, Run& run) {
  std::vector<std::vector<Index>> keys(leaves);
  for (std::size_t j = 0; j < key_leaf.size(); ++j) keys[key_leaf[j]].push_back(j);
  Matrix out(set.queries.rows(), set.dv());
  std::vector<float> logit;
  for (Index i = 0; i < out.rows(); ++i) {
    run.check();
    const Vector q(set.queries.row(i), set.d());
    const auto& in_leaf = keys[static_cast<std::size_t>(query_leaf[i])];
    const Index admissible = set.admissible(i);
    float most = -std::numeric_limits<float>::infinity();
    logit.clear();
    for (const Index j : in_leaf) {
      if (j >= admissible) break;
      logit.push_back(static_cast<float>(set.scale) * q.dot(Vector(set.keys.row(j), set.d())));
      most = std::max(most, logit.back());
    }
    Eigen::Map<Row> z(out.row(i), set.dv());
    float sum = 0;
    for (std::size_t at = 0; at < logit.size(); ++at) {
      const float weight = std::exp(logit[at] - most);
      sum += weight;
      z += weight * Vector(set.values.row(in_leaf[at]), set.dv());
    }
    if (sum > 0) z /= sum;
  }
  return out;
}

double relative_error(const LearningSet& set, const Matrix& z, IndexRange rows) {
  double error = 0, norm = 0;
  for (Index i = rows.begin; i < rows.end; ++i)
    for (Index c = 0; c < z.cols(); ++c) {
      const auto exact = static_cast<double>(set.targets(i, c));
      error += std::pow(static_cast<double>(z(i, c)) - exact, 2);
      norm += exact * exact;
    }
  return error == 0 && rows.size() > 0 ? 0 : std::sqrt(error / norm);
}

}  // namespace

MeasuredTree measure_tree(const LearningSet& set, const Tree& tree, std::span<const float> alpha,
                          Run& run) {
  const auto query_leaf = leaves_under(tree, set.queries), key_leaf = leaves_under(tree, set.keys);
  const std::vector<Index> admissible = admissible_keys(set);
  std::vector<int> branching;
  for (const TreeLevel& level : tree.levels) branching.push_back(level.branching);
  const Matrix z = alpha.empty() ? leaf_outputs(set, tree.leaves(), query_leaf, key_leaf, run)
                                 : node_outputs({.values = set.values,
                                                 .key_leaf = key_leaf,
                                                 .targets = set.targets,
                                                 .query_leaf = query_leaf,
                                                 .admissible = admissible,
                                                 .branching = branching,
                                                 .alpha = alpha},
                                                run.stop);
  const Leaves leaves{.kind = "leaf",
                      .queries = query_leaf,
                      .keys = key_leaf,
                      .branching = branching,
                      .count = tree.leaves()};
  return {.error = relative_error(set, z, {0, set.learned_from}),
          .held_out_error = relative_error(set, z, {set.learned_from, z.rows()}),
          .skew = leaf_skew(leaves, run)};
}

}  // namespace fovea
