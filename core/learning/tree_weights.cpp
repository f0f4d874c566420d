#include "learning/tree_weights.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/draw_purpose.h"
#include "learning/rows.h"

namespace fovea {
namespace {

constexpr float clip = 1;  // of f, beyond which a decision is constant

using Level = TreeWeights::Level;

/// u_c of a child; `of_node` are the scores of the node's rows.
float child_score(const Level& level, const float* of_node, Index child) {
  if (!level.by_sign) return of_node[child];
  return child == 0 ? 0.0f : *of_node;
}

/// The child that a token takes: by sign the right one if the score is 0, by argmax the lowest of
/// equal ones.
Index taken_child(const Level& level, const float* of_node) {
  if (level.by_sign) return *of_node >= 0 ? 1 : 0;
  return std::max_element(of_node, of_node + level.branching) - of_node;
}

/// The leaf of each token; score(l, row, x) is that of a row of level l.
template <class Score>
std::vector<std::int32_t> descend(const std::vector<Level>& levels, MatrixView tokens,
                                  Score score) {
  std::vector<std::int32_t> leaf;
  std::vector<float> of_node;
  for (Index i = 0; i < tokens.rows; ++i) {
    const Eigen::Map<const Eigen::VectorXf> x(tokens.row(i), tokens.cols);
    Index node = 0;
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const Index first = node * levels[l].rows_of_node();
      of_node.clear();
      for (Index r = first; r < first + levels[l].rows_of_node(); ++r)
        of_node.push_back(score(l, r, x));
      node = node * levels[l].branching + taken_child(levels[l], of_node.data());
    }
    leaf.push_back(static_cast<std::int32_t>(node));
  }
  return leaf;
}

/// Finds the gradient by the scores of one token, from the leaves up.
class Backward {
 public:
  Backward(const std::vector<Level>& levels, Credit credit) : levels_(levels), credit_(credit) {}

  /// `change` has G of every leaf. Writes `by_score`, which must be 0 at first.
  void run(const float* score, const float* change, Index leaves, Index leaf, float* by_score) {
    below_.assign(change, change + leaves);
    Index on_path = leaf;
    for (auto level = levels_.rbegin(); level != levels_.rend(); ++level) {
      on_path /= level->branching;
      here_.resize(level->nodes);
      for (Index node = 0; node < level->nodes; ++node) {
        const Index row = level->first_row + node * level->rows_of_node();
        const float* children = below_.data() + node * level->branching;
        const Index taken = taken_child(*level, score + row);
        if (credit_ == Credit::dense || node == on_path)
          decide(*level, score + row, children, taken, by_score + row);
        here_[node] = credit_ == Credit::path
                          ? children[taken]
                          : std::accumulate(children, children + level->branching, 0.0f);
      }
      below_.swap(here_);
    }
  }

 private:
  static void decide(const Level& level, const float* score, const float* change, Index taken,
                     float* by_score) {
    for (Index c = 0; c < level.branching; ++c) {
      if (c == taken) continue;
      const float f = child_score(level, score, c) - child_score(level, score, taken);
      if (std::abs(f) > clip) continue;
      const float by_f = change[c] - change[taken];
      if (level.by_sign) {
        *by_score += c == 1 ? by_f : -by_f;
      } else {
        by_score[c] += by_f;
        by_score[taken] -= by_f;
      }
    }
  }

  const std::vector<Level>& levels_;
  Credit credit_;
  std::vector<float> below_, here_;
};

}  // namespace

Index TreeWeights::nodes_below(int depth) const {
  Index count = 1;
  for (int l = 0; l < depth; ++l) count *= levels_[l].branching;
  return count;
}

void TreeWeights::add_level(int branching, bool by_sign) {
  const Level level{branching, by_sign, leaves(), rows()};
  levels_.push_back(level);
  values_.resize(values_.size() +
                 static_cast<std::size_t>(level.nodes * level.rows_of_node() * (d_ + 1)));
}

TreeWeights::TreeWeights(const Tree& tree, const LearningSet& set) : d_(set.d()) {
  const Eigen::Map<const Eigen::RowVectorXf> centre(set.centre.data(), d_);
  for (const TreeLevel& from : tree.levels) {
    add_level(from.branching, from.by_sign);
    for (Index r = 0; r < from.weight.rows(); ++r) {
      const Eigen::Map<const Eigen::RowVectorXf> w(from.weight.row(r), d_);
      float* to = values_.data() + (levels_.back().first_row + r) * (d_ + 1);
      Eigen::Map<Eigen::RowVectorXf>(to, d_) = w * set.spread;
      to[d_] = from.bias[r] + w.dot(centre);
    }
  }
  RowMajor points(set.learned_from + set.keys.rows(), d_);
  points << rows_of(set.query_points).topRows(set.learned_from), rows_of(set.key_points);
  const MatrixView all{points.data(), points.rows(), d_, d_};
  const Matrix score = scores(all);
  for (const Level& level : levels_)
    for (Index node = 0; node < level.nodes; ++node) {
      const Index row = level.first_row + node * level.rows_of_node();
      Eigen::ArrayXd f = rows_of(score).col(row).cast<double>();
      if (!level.by_sign) f = rows_of(score).col(row + 1).cast<double>().array() - f;
      const double deviation = std::sqrt((f - f.mean()).square().mean());
      if (!(deviation > 0) || !std::isfinite(deviation)) continue;
      Eigen::Map<Eigen::ArrayXf>(values_.data() + row * (d_ + 1),
                                 level.rows_of_node() * (d_ + 1)) /= static_cast<float>(deviation);
    }
}

TreeWeights TreeWeights::top(int height) const {
  TreeWeights out;
  out.d_ = d_;
  for (const Level& level : levels_)
    if (out.height() < height) out.add_level(level.branching, level.by_sign);
  std::copy_n(values_.begin(), out.values_.size(), out.values_.begin());
  return out;
}

void TreeWeights::grow(int branching, bool by_sign, std::uint64_t seed, Index head) {
  const std::size_t old = values_.size();
  add_level(branching, by_sign);
  Random random(seed, stream_of(DrawPurpose::tree_growth, head, height()));
  const double size = 1 / std::sqrt(d_);
  for (std::size_t i = old; i < values_.size(); ++i)
    if (static_cast<Index>(i) % (d_ + 1) != d_)
      values_[i] = static_cast<float>(size * random.normal());
}

Tree TreeWeights::tree(const LearningSet& set) const {
  const Eigen::Map<const Eigen::RowVectorXf> centre(set.centre.data(), d_);
  Tree out;
  for (const Level& level : levels_) {
    const Index count = level.nodes * level.rows_of_node();
    TreeLevel to{level.branching, level.by_sign, Matrix(count, d_), {}};
    for (Index r = 0; r < count; ++r) {
      const float* from = values_.data() + (level.first_row + r) * (d_ + 1);
      Eigen::Map<Eigen::RowVectorXf> w(to.weight.row(r), d_);
      w = Eigen::Map<const Eigen::RowVectorXf>(from, d_) / set.spread;
      to.bias.push_back(from[d_] - w.dot(centre));
    }
    out.levels.push_back(std::move(to));
  }
  return out;
}

Matrix TreeWeights::scores(MatrixView points) const {
  Matrix out(points.rows, rows());
  const Rows weight(values_.data(), rows(), d_, Eigen::OuterStride<>(d_ + 1));
  const Eigen::Map<const Eigen::RowVectorXf, 0, Eigen::InnerStride<>> bias(
      values_.data() + d_, rows(), Eigen::InnerStride<>(d_ + 1));
  Eigen::Map<RowMajor> to(out.data(), out.rows(), out.cols());
  to.noalias() = rows_of(points) * weight.transpose();
  to.rowwise() += bias;
  return out;
}

std::vector<std::int32_t> TreeWeights::leaves_of_scores(const Matrix& scores) const {
  std::vector<std::int32_t> leaf;
  for (Index i = 0; i < scores.rows(); ++i) {
    Index node = 0;
    for (const Level& level : levels_)
      node = node * level.branching +
             taken_child(level, scores.row(i) + level.first_row + node * level.rows_of_node());
    leaf.push_back(static_cast<std::int32_t>(node));
  }
  return leaf;
}

std::vector<std::int32_t> TreeWeights::leaves_of(MatrixView points) const {
  return descend(levels_, points, [&](std::size_t l, Index row, auto x) {
    const float* w = values_.data() + (levels_[l].first_row + row) * (d_ + 1);
    return Eigen::Map<const Eigen::VectorXf>(w, d_).dot(x) + w[d_];
  });
}

void TreeWeights::add_gradient(MatrixView points, const Matrix& scores, const Matrix& change,
                               Credit credit, std::vector<float>& gradient) const {
  const std::vector<std::int32_t> leaf = leaves_of_scores(scores);
  Matrix by_score(points.rows, rows());
  Backward backward(levels_, credit);
  for (Index i = 0; i < points.rows; ++i)
    backward.run(scores.row(i), change.row(i), change.cols(), leaf[i], by_score.row(i));
  const RowMajor by_weight = rows_of(by_score).transpose() * rows_of(points);
  const Eigen::RowVectorXf by_bias = rows_of(by_score).colwise().sum();
  for (Index r = 0; r < rows(); ++r) {
    float* to = gradient.data() + r * (d_ + 1);
    Eigen::Map<Eigen::RowVectorXf>(to, d_) += by_weight.row(r);
    to[d_] += by_bias(r);
  }
}

std::vector<std::int32_t> leaves_under(const Tree& tree, MatrixView x) {
  std::vector<Level> levels;
  for (const TreeLevel& level : tree.levels) levels.push_back({level.branching, level.by_sign});
  return descend(levels, x, [&](std::size_t l, Index row, auto point) {
    const TreeLevel& level = tree.levels[l];
    return Eigen::Map<const Eigen::VectorXf>(level.weight.row(row), x.cols).dot(point) +
           level.bias[row];
  });
}

}  // namespace fovea
