#include "learning/node_loss.h"

#include <Eigen/Dense>
#include <algorithm>
#include <numeric>

#include "data/error.h"
#include "learning/rows.h"

namespace fovea {
namespace {

using Row = Eigen::RowVectorXf;

/// How nodes are numbered: depth by depth, root first.
class Nodes {
 public:
  explicit Nodes(std::span<const int> branching) : branching_(branching) {
    Index count = 1;
    for (std::size_t l = 0; l <= branching.size(); ++l) {
      first_.push_back(total_);
      size_.push_back(count);
      total_ += count;
      if (l < branching.size()) count *= branching[l];
    }
    for (std::size_t l = 0; l <= branching.size(); ++l) below_.push_back(count / size_[l]);
  }

  int depths() const { return static_cast<int>(size_.size()); }
  Index total() const { return total_; }
  Index leaves() const { return size_.back(); }
  Index first(int depth) const { return first_[depth]; }
  Index size(int depth) const { return size_[depth]; }
  int branching(int depth) const { return branching_[depth]; }
  /// The node at a depth above a leaf.
  Index above(Index leaf, int depth) const { return first(depth) + leaf / below_[depth]; }

 private:
  std::span<const int> branching_;
  std::vector<Index> first_, size_, below_;
  Index total_ = 0;
};

/// Means of the values at every node, over a number of first keys.
struct Means {
  RowMajor mean;             // [nodes, dv], 0 where there is no key
  std::vector<float> count;  // [nodes]
};

Means means_of(const NodeBatch& batch, const Nodes& nodes, Index keys) {
  const Rows v = rows_of(batch.values);
  Means out{RowMajor::Zero(nodes.total(), v.cols()), std::vector<float>(nodes.total())};
  const int leaf_depth = nodes.depths() - 1;
  for (Index j = 0; j < keys; ++j) {
    const Index at = nodes.above(batch.key_leaf[j], leaf_depth);
    out.mean.row(at) += v.row(j);
    ++out.count[at];
  }
  for (int depth = leaf_depth - 1; depth >= 0; --depth)
    for (Index child = 0; child < nodes.size(depth + 1); ++child) {
      const Index from = nodes.first(depth + 1) + child,
                  to = nodes.first(depth) + child / nodes.branching(depth);
      out.mean.row(to) += out.mean.row(from);
      out.count[to] += out.count[from];
    }
  for (Index m = 0; m < nodes.total(); ++m)
    if (const float count = out.count[m]; count > 0) out.mean.row(m) /= count;
  return out;
}

/// The outputs of a query in every leaf, [leaves, dv].
RowMajor outputs_in_leaves(const NodeBatch& batch, const Nodes& nodes, const Means& means) {
  RowMajor out = RowMajor::Zero(nodes.leaves(), means.mean.cols());
  for (Index c = 0; c < nodes.leaves(); ++c)
    for (int depth = 0; depth < nodes.depths(); ++depth)
      out.row(c) += batch.alpha[depth] * means.mean.row(nodes.above(c, depth));
  return out;
}

/// A node of weight alpha, and the queries in it: how many, and the sum of their R.
struct NodeChange {
  Index node;
  float alpha;
  Row r;
  float queries;
};

/// Adds dE/dg of a node for the first `keys` keys.
void add_key_changes(const NodeBatch& batch, const Nodes& nodes, const Means& means, int depth,
                     Index keys, const NodeChange& change, RowMajor& by_node) {
  const Rows v = rows_of(batch.values);
  const Row m = means.mean.row(change.node);
  const float size = means.count[change.node];
  const float at_mean = change.r.dot(m), linear = 2 * change.alpha,
              square = change.alpha * change.alpha * change.queries;
  for (Index j = 0; j < keys; ++j) {
    const bool inside = nodes.above(batch.key_leaf[j], depth) == change.node;
    if (inside && size < 2) {
      by_node(j, change.node) += linear * at_mean - square * m.squaredNorm();
      continue;
    }
    const float step = inside ? -1 / (size - 1) : 1 / (size + 1);
    const float apart = (v.row(j) - m).squaredNorm(), along = change.r.dot(v.row(j)) - at_mean;
    const float moved = step * (linear * along + square * step * apart);
    by_node(j, change.node) += inside ? -moved : moved;
  }
}

class Gradient {
 public:
  explicit Gradient(const NodeBatch& batch)
      : batch_(batch),
        nodes_(batch.branching),
        by_node_(RowMajor::Zero(batch.values.rows, nodes_.total())),
        residual_(RowMajor::Zero(nodes_.total(), batch.values.cols)),
        queries_(nodes_.total()) {
    out_.by_leaf.queries = Matrix(batch.targets.rows, nodes_.leaves());
    out_.by_leaf.keys = Matrix(batch.values.rows, nodes_.leaves());
    out_.alpha.resize(batch.alpha.size());
  }

  NodeGradient run(const std::stop_token& stop) {
    const bool causal = !batch_.admissible.empty();
    Means means;
    RowMajor outputs;
    for (Index i = 0; i < batch_.targets.rows; ++i) {
      if (stop.stop_requested()) throw Cancelled();
      const Index keys = causal ? batch_.admissible[i] : batch_.values.rows;
      if (causal || i == 0) {
        means = means_of(batch_, nodes_, keys);
        outputs = outputs_in_leaves(batch_, nodes_, means);
      }
      add_query(i, means, outputs);
      if (causal) add_keys(means, keys);
    }
    if (!causal && batch_.targets.rows > 0) add_keys(means, batch_.values.rows);
    sum_over_paths();
    return std::move(out_);
  }

 private:
  void add_query(Index i, const Means& means, const RowMajor& outputs) {
    const Row t = rows_of(batch_.targets).row(i);
    const Index leaf = batch_.query_leaf[i];
    for (Index c = 0; c < nodes_.leaves(); ++c)
      out_.by_leaf.queries(i, c) = (outputs.row(c) - t).squaredNorm();
    out_.by_leaf.loss += static_cast<double>(out_.by_leaf.queries(i, leaf));
    const Row r = outputs.row(leaf) - t;
    for (int depth = 0; depth < nodes_.depths(); ++depth) {
      const Index node = nodes_.above(leaf, depth);
      residual_.row(node) += r;
      ++queries_[node];
      out_.alpha[depth] += 2 * r.dot(means.mean.row(node));
    }
  }

  /// Adds the changes by the queries added since the last call. The root does not change, since all
  /// keys are in it.
  void add_keys(const Means& means, Index keys) {
    for (int depth = 1; depth < nodes_.depths(); ++depth)
      for (Index node = nodes_.first(depth); node < nodes_.first(depth) + nodes_.size(depth);
           ++node)
        if (const float count = queries_[node]; count > 0)
          add_key_changes(batch_, nodes_, means, depth, keys,
                          {node, batch_.alpha[depth], residual_.row(node), count}, by_node_);
    residual_.setZero();
    std::ranges::fill(queries_, 0.0f);
  }

  void sum_over_paths() {
    for (Index j = 0; j < batch_.values.rows; ++j)
      for (Index c = 0; c < nodes_.leaves(); ++c)
        for (int depth = 1; depth < nodes_.depths(); ++depth)
          out_.by_leaf.keys(j, c) += by_node_(j, nodes_.above(c, depth));
  }

  const NodeBatch& batch_;
  Nodes nodes_;
  NodeGradient out_;
  RowMajor by_node_;            // [keys, nodes]
  RowMajor residual_;           // [nodes, dv] sum of R_i
  std::vector<float> queries_;  // [nodes]
};

}  // namespace

NodeGradient node_loss(const NodeBatch& batch, std::stop_token stop) {
  return Gradient(batch).run(stop);
}

Matrix node_outputs(const NodeBatch& batch, const std::stop_token& stop) {
  const Nodes nodes(batch.branching);
  const Rows v = rows_of(batch.values);
  const auto admissible = [&](Index i) {
    return batch.admissible.empty() ? v.rows() : batch.admissible[i];
  };
  // Queries in ascending order of the number of keys they may attend, so that every key is added to
  // its nodes once.
  std::vector<Index> order(batch.targets.rows);
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, {}, admissible);
  RowMajor sum = RowMajor::Zero(nodes.total(), v.cols());
  std::vector<float> count(nodes.total());
  Matrix out(batch.targets.rows, v.cols());
  Index added = 0;
  for (const Index i : order) {
    if (stop.stop_requested()) throw Cancelled();
    for (; added < admissible(i); ++added)
      for (int depth = 0; depth < nodes.depths(); ++depth) {
        const Index node = nodes.above(batch.key_leaf[added], depth);
        sum.row(node) += v.row(added);
        ++count[node];
      }
    Eigen::Map<Row> z(out.row(i), out.cols());
    for (int depth = 0; depth < nodes.depths(); ++depth) {
      const Index node = nodes.above(batch.query_leaf[i], depth);
      if (const float keys = count[node]; keys > 0) z += batch.alpha[depth] / keys * sum.row(node);
    }
  }
  return out;
}

}  // namespace fovea
