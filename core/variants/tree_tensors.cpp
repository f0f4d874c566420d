#include "variants/tree_tensors.h"

#include <algorithm>
#include <limits>

#include "data/error.h"
#include "data/shape.h"

namespace fovea {
namespace {

constexpr const char* weight_name = "tree_weight";
constexpr const char* bias_name = "tree_bias";
constexpr float not_there = -std::numeric_limits<float>::infinity();  // bias of a missing child

// --- from tensors ---

/// Both tensors in the k-ary form: [nodes, width, d] and [nodes, width].
struct FlatTree {
  Index nodes = 0, width = 1, d = 0;
  bool by_sign = true;
  const std::vector<float>&weight, &bias;

  bool has_child(Index node, Index child) const {
    return bias[static_cast<std::size_t>(node * width + child)] != not_there;
  }
  Index children(Index node) const {
    Index count = 0;
    while (count < width && has_child(node, count)) ++count;
    return count;
  }
};

FlatTree flat_tree(const StructureTensor& weight, const StructureTensor& bias) {
  const std::vector<Index>&w = weight.shape, &b = bias.shape;
  if (w.size() < 2 || w.size() > 3 || b != std::vector<Index>(w.begin(), w.end() - 1))
    throw InputError(weight_name, "this and '" + std::string(bias_name) + "' have shapes " +
                                      shape_text(w) + " and " + shape_text(b) +
                                      " a head; expected [nodes,d] and [nodes], or [nodes,b,d] and "
                                      "[nodes,b]");
  const bool by_sign = w.size() == 2;
  return {w[0],
          by_sign ? 1 : w[1],
          w.back(),
          by_sign,
          std::get<std::vector<float>>(weight.values),
          std::get<std::vector<float>>(bias.values)};
}

TreeLevel read_level(const FlatTree& flat, Index first, Index nodes, Index branching) {
  const Index rows = flat.by_sign ? 1 : branching;
  TreeLevel level{static_cast<int>(branching), flat.by_sign, Matrix(nodes * rows, flat.d), {}};
  for (Index node = 0; node < nodes; ++node)
    for (Index c = 0; c < rows; ++c) {
      const Index at = (first + node) * flat.width + c;
      std::copy_n(flat.weight.data() + at * flat.d, flat.d, level.weight.row(node * rows + c));
      level.bias.push_back(flat.bias[static_cast<std::size_t>(at)]);
    }
  return level;
}

/// All nodes of a level have its `branching` children, and no others.
void check_children(const FlatTree& flat, Index first, Index nodes, Index branching) {
  if (branching < 1)
    throw InputError(bias_name, "leaves node " + std::to_string(first) + " with " +
                                    std::to_string(branching) + " children; expected at least 1");
  for (Index node = first; node < first + nodes; ++node)
    for (Index c = 0; c < flat.width; ++c)
      if (flat.has_child(node, c) != (flat.by_sign || c < branching))
        throw InputError(bias_name,
                         "is -inf elsewhere at node " + std::to_string(node) +
                             " than at the first of its level; expected one branching for each "
                             "level");
}

// --- to tensors ---

bool is_k_ary(const Tree& tree) {
  return tree.height() > 0 && !tree.levels[0].by_sign;
}

/// Rows that a node takes: one by sign, else one for each child of the level with most.
Index width_of(const Tree& tree) {
  int width = 1;
  for (const TreeLevel& level : tree.levels) {
    if (level.by_sign == is_k_ary(tree))
      throw Error(1, "a tree with levels by sign and by argmax has no tensors");
    if (!level.by_sign) width = std::max(width, level.branching);
  }
  return width;
}

void append_level(const TreeLevel& level, Index nodes, Index width, std::vector<float>& weight,
                  std::vector<float>& bias) {
  const Index rows = level.by_sign ? 1 : level.branching;
  for (Index node = 0; node < nodes; ++node)
    for (Index c = 0; c < width; ++c) {
      const Index row = node * rows + c;
      bias.push_back(c < rows ? level.bias[static_cast<std::size_t>(row)] : not_there);
      if (c < rows)
        weight.insert(weight.end(), level.weight.row(row),
                      level.weight.row(row) + level.weight.cols());
      else
        weight.insert(weight.end(), static_cast<std::size_t>(level.weight.cols()), 0.0f);
    }
}

}  // namespace

std::vector<TensorField> tree_tensors() {
  return {
      {.name = weight_name,
       .element = Element::real,
       .shapes = {{"nodes", "d"}, {"nodes", "b", "d"}},
       .meaning = "Directions w of the tree's nodes, level by level, root first; of a tree with "
                  "b children a node, one for each child."},
      {.name = bias_name,
       .element = Element::real,
       .shapes = {{"nodes"}, {"nodes", "b"}},
       .meaning = "Thresholds of the same nodes: the right child if w.x + bias >= 0, or the "
                  "child with the largest w.x + bias. -inf: there is no such child.",
       .minus_infinity = true}};
}

void set_tree(Structure& structure, const Tree& tree) {
  if (tree.height() == 0) return;
  const Index width = width_of(tree);
  std::vector<float> weight, bias;
  Index nodes = 0;
  for (int l = 0; l < tree.height(); ++l) {
    append_level(tree.levels[static_cast<std::size_t>(l)], tree.nodes(l), width, weight, bias);
    nodes += tree.nodes(l);
  }
  std::vector<Index> shape{nodes};
  if (is_k_ary(tree)) shape.push_back(width);
  structure.set({bias_name, shape, std::move(bias)});
  shape.push_back(tree.levels[0].weight.cols());
  structure.set({weight_name, shape, std::move(weight)});
}

Tree tree_of(const Structure& structure) {
  const StructureTensor *weight = structure.find(weight_name), *bias = structure.find(bias_name);
  if (!weight && !bias) return {};
  if (!weight || !bias)
    throw InputError(
        weight ? weight_name : bias_name,
        std::string("'") + (weight ? bias_name : weight_name) + "' is missing; expected both");
  const FlatTree flat = flat_tree(*weight, *bias);
  Tree tree;
  Index first = 0, nodes = 1;
  while (first < flat.nodes) {
    if (nodes > flat.nodes - first)
      throw InputError(weight_name, "has " + std::to_string(flat.nodes) +
                                        " nodes; expected whole levels: " + std::to_string(first) +
                                        " nodes, or " + std::to_string(first + nodes) +
                                        " with the next");
    const Index branching = flat.by_sign ? 2 : flat.children(first);
    check_children(flat, first, nodes, branching);
    tree.levels.push_back(read_level(flat, first, nodes, branching));
    first += nodes;
    if (__builtin_mul_overflow(nodes, branching, &nodes) ||
        nodes > std::numeric_limits<std::int32_t>::max())
      throw InputError(weight_name, "has too many leaves; expected fewer than 2^31");
  }
  return tree;
}

}  // namespace fovea
