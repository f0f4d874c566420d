#include "variants/tree_builder.h"

#include <Eigen/Dense>
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

#include "data/draw_purpose.h"
#include "data/error.h"
#include "data/random.h"
#include "data/shape.h"
#include "variants/learned_tree.h"
#include "variants/tree_tensors.h"

namespace fovea {
namespace {

constexpr Index most_leaves = Index{1} << 20;
constexpr Index most_sampled = 2048;  // keys of a node that its direction is found from

using Keys = std::span<std::int32_t>;
using Sample = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Power iteration with the products of the columns of `sample`, from `direction` on.
Eigen::VectorXf iterated(const Sample& sample, Eigen::VectorXf direction) {
  // The products of all columns take as many multiply-adds as d / 4 steps on the sample, and make a
  // step a product of d x d.
  const bool few = sample.rows() < sample.cols();
  Eigen::MatrixXf products;
  if (!few) {
    products.setZero(sample.cols(), sample.cols());
    products.selfadjointView<Eigen::Lower>().rankUpdate(sample.transpose());
  }
  for (int step = 0; step < 50; ++step) {
    const Eigen::VectorXf next =
        few ? (sample.transpose() * (sample * direction)).normalized()
            : (products.selfadjointView<Eigen::Lower>() * direction).normalized();
    const float turned = (next - direction).squaredNorm();
    direction = next;
    if (turned < 1e-10f) break;
  }
  return direction;
}

// Leading principal direction of the keys of a node, its largest component positive; the first axis
// when all keys are equal or some are not finite. Power iteration from the key farthest from the
// mean.
Eigen::VectorXf leading_direction(MatrixView keys, Keys node) {
  const Index size = static_cast<Index>(node.size()),
              step = (size + most_sampled - 1) / most_sampled;
  const Index count = (size + step - 1) / step;
  Sample sample(count, keys.cols);
  for (Index i = 0; i < count; ++i)
    sample.row(i) = Eigen::Map<const Eigen::RowVectorXf>(
        keys.row(node[static_cast<std::size_t>(i * step)]), keys.cols);
  sample.rowwise() -= sample.colwise().mean().eval();
  Index farthest = 0;
  const float spread = sample.rowwise().norm().maxCoeff(&farthest);
  if (!(spread > 0) || !std::isfinite(spread)) return Eigen::VectorXf::Unit(keys.cols, 0);
  sample /= spread;  // no overflow, whatever the keys
  const Eigen::VectorXf direction = iterated(sample, sample.row(farthest).transpose().normalized());
  if (!direction.allFinite()) return Eigen::VectorXf::Unit(keys.cols, 0);
  Index largest = 0;
  direction.cwiseAbs().maxCoeff(&largest);
  return direction(largest) < 0 ? Eigen::VectorXf(-direction) : direction;
}

struct Projected {
  float along;
  std::int32_t key;
};

// Numbers in the order of a projection, then of the key; NaN last.
std::uint64_t place_of(const Projected& p) {
  constexpr std::uint32_t sign = 1u << 31;
  const auto bits = std::bit_cast<std::uint32_t>(p.along + 0.0f);  // -0 is 0
  const std::uint32_t along = std::isnan(p.along) ? ~0u : bits & sign ? ~bits : bits | sign;
  return std::uint64_t{along} << 32 | static_cast<std::uint32_t>(p.key);
}

// The keys of a node sorted along a direction, NaN last.
std::vector<Projected> project(MatrixView keys, Keys node, const Eigen::VectorXf& direction) {
  std::vector<Projected> projected;
  std::vector<std::pair<std::uint64_t, float>> placed;
  placed.reserve(node.size());
  for (std::int32_t key : node) {
    const float along = Eigen::Map<const Eigen::VectorXf>(keys.row(key), keys.cols).dot(direction);
    placed.emplace_back(place_of({along, key}), along);
  }
  std::ranges::sort(placed, {}, &std::pair<std::uint64_t, float>::first);
  projected.reserve(node.size());
  for (const auto& [place, along] : placed)
    projected.push_back({along, static_cast<std::int32_t>(place & 0xffffffffu)});
  return projected;
}

// Between two projections, one of which may be infinite.
float middle(float below, float above) {
  constexpr float most = std::numeric_limits<float>::max() / 4;
  below = std::clamp(below, -most, most);
  above = std::clamp(above, -most, most);
  return below + (above - below) / 2;
}

// Splits a node: writes its rows of the level, orders its keys by child and returns where the
// children begin (and the last one ends). Equal projections stay together, as routing will have it.
std::vector<Index> split(MatrixView keys, Keys node, TreeLevel& level, Index first_row) {
  const Index size = static_cast<Index>(node.size()), children = level.branching;
  std::vector<Index> begin(static_cast<std::size_t>(children) + 1, size);
  begin.front() = 0;
  if (size == 0) return begin;
  const Eigen::VectorXf direction = leading_direction(keys, node);
  const std::vector<Projected> all = project(keys, node, direction);
  const auto nan =
      std::ranges::find_if(all, [](const Projected& p) { return std::isnan(p.along); });
  const std::span<const Projected> sorted(all.begin(), nan);
  const Index count = static_cast<Index>(sorted.size()), left_out = size - count;
  double passed = 0;  // sum of the thresholds up to child c
  for (Index c = 1; c < children && count > 0; ++c) {
    const auto at = static_cast<std::size_t>(
        std::clamp<Index>(c * count / children, 1, std::max<Index>(count - 1, 1)));
    const float threshold =
        middle(sorted[at - 1].along, sorted[std::min(at, sorted.size() - 1)].along);
    passed += static_cast<double>(threshold);
    // By sign the threshold itself goes right; by argmax the lower child wins a tie.
    const auto right = level.by_sign
                           ? std::ranges::lower_bound(sorted, threshold, {}, &Projected::along)
                           : std::ranges::upper_bound(sorted, threshold, {}, &Projected::along);
    begin[static_cast<std::size_t>(c)] = left_out + (right - sorted.begin());
    const Index row = first_row + (level.by_sign ? 0 : c);
    const float factor = level.by_sign ? 1.0f : static_cast<float>(c);
    for (Index x = 0; x < keys.cols; ++x) level.weight(row, x) = factor * direction(x);
    level.bias[static_cast<std::size_t>(row)] = static_cast<float>(-passed);
  }
  // Keys with NaN first: they are of the first child.
  for (std::size_t i = 0; i < all.size(); ++i)
    node[(i + static_cast<std::size_t>(left_out)) % all.size()] = all[i].key;
  return begin;
}

TreeLevel empty_level(const TreeShape& shape, std::size_t depth, Index nodes, Index d) {
  const int branching = shape.branching[depth];
  const Index rows = nodes * (shape.by_sign ? 1 : branching);
  return {branching, shape.by_sign, Matrix(rows, d),
          std::vector<float>(static_cast<std::size_t>(rows))};
}

void check_tree(const Tree& tree, Index d) {
  Index nodes = 1;
  for (const TreeLevel& level : tree.levels) {
    if (level.branching < 1 || nodes * level.branching > most_leaves)
      throw InputError("tree", std::to_string(nodes) + " x " + std::to_string(level.branching) +
                                   " leaves; expected between 1 and 2^20");
    const Index rows = nodes * (level.by_sign ? 1 : level.branching);
    if (level.weight.rows() != rows || level.weight.cols() != d)
      throw InputError("tree_weight", shape_text({level.weight.rows(), level.weight.cols()}) +
                                          " at a level; expected " + shape_text({rows, d}));
    if (static_cast<Index>(level.bias.size()) != rows)
      throw InputError("tree_bias", std::to_string(level.bias.size()) +
                                        " values at a level; expected " + std::to_string(rows));
    nodes *= level.branching;
  }
}

// Multiply-adds: one dot product per row of weights that a level compares.
double routing(const Tree& tree, MatrixView x) {
  double rows = 0;
  for (const TreeLevel& level : tree.levels) rows += level.by_sign ? 1 : level.branching;
  return static_cast<double>(x.rows) * static_cast<double>(x.cols) * rows;
}

void check_leaves(const std::vector<std::int32_t>& leaf, const std::string& name, Index leaves) {
  for (std::size_t i = 0; i < leaf.size(); ++i)
    if (leaf[i] < 0 || leaf[i] >= leaves)
      throw InputError(name, "[" + std::to_string(i) + "] is " + std::to_string(leaf[i]) +
                                 "; expected a leaf in [0, " + std::to_string(leaves) + ")");
}

// The weights of a tree of which only the leaves are known: 0.
Tree unknown_tree(const TreeShape& shape, Index d) {
  Tree tree;
  Index nodes = 1;
  for (std::size_t depth = 0; depth < shape.branching.size(); ++depth) {
    tree.levels.push_back(empty_level(shape, depth, nodes, d));
    nodes *= shape.branching[depth];
  }
  return tree;
}

// What the plan tells of the tree.
void record(const RoutedTree& routed, Plan& plan) {
  set_tree(plan.structure, routed.tree);
  plan.structure.set("query_leaf", routed.query_leaf);
  plan.structure.set("key_leaf", routed.key_leaf);
  plan.groups = {"leaf", "query_leaf", "key_leaf", {}, routed.tree.leaves()};
  for (const TreeLevel& level : routed.tree.levels) {
    plan.groups.branching.push_back(level.branching);
    plan.planning_bytes +=
        sizeof(float) * static_cast<double>(level.weight.rows() * (level.weight.cols() + 1));
  }
}

void build(const Problem& problem, const TreeParameters& parameters, const TreeShape& shape,
           const LearningGoal& goal, Planning& planning, Plan& plan, RoutedTree& out) {
  const auto stage = planning.run.profile.stage(building_stage);
  Run& run = planning.run;
  if (parameters.tree == TreeKind::learned) {
    LearnedTree learned = learn_tree(problem, parameters, shape, goal, planning, plan.notes);
    out.tree = std::move(learned.tree);
    out.alpha = std::move(learned.alpha);
  } else {
    out.tree = start_tree(parameters.tree, problem, shape, planning.seed, planning.backend, run);
  }
  plan.fitted_to_all_tokens =
      parameters.tree == TreeKind::median || parameters.tree == TreeKind::learned;
}

}  // namespace

TreeShape tree_shape(const TreeParameters& p) {
  if (p.branching.empty()) return {std::vector<int>(static_cast<std::size_t>(p.height), 2), true};
  TreeShape shape{{}, false};
  double leaves = 1;
  for (double b : p.branching) {
    if (b != std::floor(b)) throw UsageError("branching has " + to_text(b) + "; expected integers");
    leaves *= b;
    if (leaves > static_cast<double>(most_leaves))
      throw UsageError("branching is '" + to_text(p.branching) + "'; expected at most 2^20 leaves");
    shape.branching.push_back(static_cast<int>(b));
  }
  return shape;
}

std::int64_t short_height(Index n) {
  const auto leaves = static_cast<std::uint64_t>(std::max<Index>(n / 16, 1));
  return std::clamp<std::int64_t>(std::bit_width(leaves) - 1, 1, 6);
}

std::vector<Value> heights_to_try(Index n) {
  const auto middle = static_cast<int>(n < default_length ? short_height(n) : standard_height);
  const auto half = static_cast<std::uint64_t>(std::max<Index>(n / 2, 2));
  const int most = std::min(most_height, static_cast<int>(std::bit_width(half)) - 1);
  std::vector<Value> heights;
  for (const int step : coarse_to_fine(middle - 1, std::max(0, most - middle)))
    heights.emplace_back(std::int64_t{middle} + step);
  return heights;
}

std::optional<double> leaves_of_branching(const Value& branching) {
  const auto& list = std::get<std::vector<double>>(branching);
  if (list.empty()) return std::nullopt;
  double leaves = 1;
  for (const double children : list) leaves *= children;
  return leaves;
}

Tree median_tree(MatrixView keys, const TreeShape& shape, const Backend& backend, Run& run) {
  Tree tree;
  std::vector<std::int32_t> order(static_cast<std::size_t>(keys.rows));
  std::iota(order.begin(), order.end(), 0);
  std::vector<Index> begin{0, keys.rows};  // of the nodes of this depth in `order`
  for (std::size_t depth = 0; depth < shape.branching.size(); ++depth) {
    const Index nodes = static_cast<Index>(begin.size()) - 1, children = shape.branching[depth];
    TreeLevel level = empty_level(shape, depth, nodes, keys.cols);
    std::vector<Index> next(static_cast<std::size_t>(nodes * children) + 1, keys.rows);
    backend.share_out(nodes, run, [&](Index node) {
      const Index from = begin[static_cast<std::size_t>(node)],
                  to = begin[static_cast<std::size_t>(node) + 1];
      const Keys members(order.data() + from, static_cast<std::size_t>(to - from));
      const auto ends = split(keys, members, level, node * (level.by_sign ? 1 : children));
      for (Index c = 0; c < children; ++c)
        next[static_cast<std::size_t>(node * children + c)] =
            from + ends[static_cast<std::size_t>(c)];
    });
    begin = std::move(next);
    tree.levels.push_back(std::move(level));
  }
  return tree;
}

Tree random_tree(Index d, const TreeShape& shape, std::uint64_t seed, Index head, Run& run) {
  Tree tree;
  Random random(seed, stream_of(DrawPurpose::random_tree, head));
  Index nodes = 1;
  for (std::size_t depth = 0; depth < shape.branching.size(); ++depth) {
    run.check();
    TreeLevel level = empty_level(shape, depth, nodes, d);
    for (Index row = 0; row < level.weight.rows(); ++row) {
      Eigen::Map<Eigen::VectorXf> weight(level.weight.row(row), d);
      for (Index x = 0; x < d; ++x) weight(x) = static_cast<float>(random.normal());
      weight.normalize();
    }
    nodes *= level.branching;
    tree.levels.push_back(std::move(level));
  }
  return tree;
}

Tree single_tree(Index d, const TreeShape& shape) {
  Tree tree = unknown_tree(shape, d);
  for (TreeLevel& level : tree.levels) {
    const std::size_t rows = level.by_sign ? 1 : static_cast<std::size_t>(level.branching);
    for (std::size_t row = rows - 1; row < level.bias.size(); row += rows) level.bias[row] = 1;
  }
  return tree;
}

Tree start_tree(TreeKind kind, const Problem& problem, const TreeShape& shape, std::uint64_t seed,
                const Backend& backend, Run& run) {
  switch (kind) {
    case TreeKind::random:
      return random_tree(problem.d(), shape, seed, problem.head, run);
    case TreeKind::single:
      return single_tree(problem.d(), shape);
    case TreeKind::median:
    case TreeKind::learned:
      break;
  }
  return median_tree(problem.k, shape, backend, run);
}

std::vector<TensorField> routed_tree_tensors() {
  std::vector<TensorField> fields = tree_tensors();
  fields.push_back(
      {.name = "query_leaf", .shapes = {{"nq"}}, .meaning = "Leaf of every query, from the left."});
  fields.push_back(
      {.name = "key_leaf", .shapes = {{"nk"}}, .meaning = "Leaf of every key, from the left."});
  return fields;
}

namespace {

std::string size_text(int height, Index leaves) {
  return "height " + std::to_string(height) + ", " + std::to_string(leaves) + " leaves";
}

std::string note_of_given(const Tree& tree, bool learned, const TreeShape& planned) {
  Index leaves = 1;
  for (const int children : planned.branching) leaves *= children;
  const std::string found = size_text(tree.height(), tree.leaves()),
                    expected = size_text(static_cast<int>(planned.branching.size()), leaves);
  return (learned ? "tree as it was learned: " : "tree as given: ") + found +
         (found == expected ? "" : "; the parameters would have " + expected);
}

}  // namespace

RoutedTree routed_tree(const Problem& problem, const TreeParameters& parameters,
                       const LearningGoal& goal, Planning& planning, Plan& plan) {
  const TreeShape shape = tree_shape(parameters);
  const auto &query_leaf = planning.integers("query_leaf", {"nq"}),
             &key_leaf = planning.integers("key_leaf", {"nk"});
  RoutedTree out{.tree = tree_of(planning.given)};
  if (out.tree.height() > 0) {
    check_tree(out.tree, problem.d());
    const bool learned = parameters.tree == TreeKind::learned;
    plan.fitted_to_all_tokens = learned;
    plan.notes.push_back(note_of_given(out.tree, learned, shape));
  } else if (!query_leaf.empty() && !key_leaf.empty()) {
    out.tree = unknown_tree(shape, problem.d());
  } else {
    build(problem, parameters, shape, goal, planning, plan, out);
  }
  const auto stage = planning.run.profile.stage("route");
  const auto leaves_of = [&](MatrixView x, const std::vector<std::int32_t>& known,
                             const char* name) {
    if (known.empty()) {
      plan.planning_multiply_adds += routing(out.tree, x);
      return planning.backend.route(x, out.tree, planning.run);
    }
    check_leaves(known, name, out.tree.leaves());
    return known;
  };
  out.query_leaf = leaves_of(problem.q, query_leaf, "query_leaf");
  out.key_leaf = leaves_of(problem.k, key_leaf, "key_leaf");
  record(out, plan);
  return out;
}

}  // namespace fovea
