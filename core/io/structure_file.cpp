#include "io/structure_file.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include "data/error.h"
#include "io/tensor_file.h"

namespace fovea {
namespace {

using Integers = std::vector<std::int32_t>;

/// The members of Structure that are lists of integers, by name.
constexpr std::pair<const char*, Integers Structure::*> integer_members[] = {
    {"query_order", &Structure::query_order},   {"key_order", &Structure::key_order},
    {"sampled_keys", &Structure::sampled_keys}, {"query_leaf", &Structure::query_leaf},
    {"key_leaf", &Structure::key_leaf},         {"query_bucket", &Structure::query_bucket},
    {"key_bucket", &Structure::key_bucket},
};

// --- reading ---

/// The slice of one head, as a shape and the bytes of it.
class Slice {
 public:
  Slice(const TensorFile& file, const NamedTensor& tensor, Index head, Index heads)
      : file_(file), tensor_(tensor) {
    if (tensor.shape.size() < 2 || (tensor.shape[0] != heads && tensor.shape[0] != 1))
      throw refusal("has shape " + shape_text(tensor.shape),
                    "[" + std::to_string(heads) + ",...], a slice a head,");
    shape_.assign(tensor.shape.begin() + 1, tensor.shape.end());
    for (const Index size : shape_) count_ *= size;  // cannot overflow: it lies in the file
    if (count_ == 0) throw refusal("has shape " + shape_text(tensor.shape), "at least one value");
    if (tensor.shape[0] == heads) begin_ = head * count_;
  }

  InputError refusal(const std::string& found, const std::string& expected) const {
    return InputError(file_.path,
                      "'" + tensor_.name + "' " + found + ": " + expected + " expected");
  }
  const std::vector<Index>& shape() const { return shape_; }

  Integers integers() const {
    if (tensor_.dtype == "I32") return integers_of<std::int32_t>();
    if (tensor_.dtype == "I64") return integers_of<std::int64_t>();
    throw refusal("has dtype " + tensor_.dtype, "I32 or I64");
  }

  std::vector<float> numbers() const {
    HeadTensor view;
    view.type = require_float(file_, tensor_);
    const Index element = size_of(view.type);
    view.bytes = tensor_.bytes;
    view.begin = tensor_.begin + begin_ * element;
    view.heads = view.rows = 1;
    view.cols = count_;
    view.col_stride = element;
    const Matrix values = view.read(0);
    return {values.data(), values.data() + count_};
  }

 private:
  template <class Word>
  Integers integers_of() const {
    std::vector<Word> words(static_cast<std::size_t>(count_));
    tensor_.bytes->read(tensor_.begin + begin_ * Index{sizeof(Word)},
                        std::as_writable_bytes(std::span(words)));
    Integers out(words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
      const Word word = words[i];
      if (word < 0 || word > std::numeric_limits<std::int32_t>::max())
        throw refusal("holds " + std::to_string(word), "indices from 0 to 2147483647");
      out[i] = static_cast<std::int32_t>(word);
    }
    return out;
  }

  const TensorFile& file_;
  const NamedTensor& tensor_;
  std::vector<Index> shape_;
  Index begin_ = 0, count_ = 1;
};

void require_finite(const Slice& slice, const std::vector<float>& values) {
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i]))
      throw slice.refusal("has NaN or Inf at element " + std::to_string(i), "finite numbers");
}

/// The two tensors of a tree, one head, in the k-ary form: [nodes, width, d] and [nodes, width].
struct FlatTree {
  Index nodes = 0, width = 1, d = 0;
  std::vector<float> weight, bias;

  bool has_child(Index node, Index child) const {
    return bias[static_cast<std::size_t>(node * width + child)] !=
           -std::numeric_limits<float>::infinity();
  }
  Index children(Index node) const {
    Index count = 0;
    while (count < width && has_child(node, count)) ++count;
    return count;
  }
};

TreeLevel read_level(const FlatTree& flat, Index first, Index nodes, Index branching,
                     bool by_sign) {
  TreeLevel level;
  level.branching = static_cast<int>(branching);
  level.by_sign = by_sign;
  const Index rows = by_sign ? 1 : branching;
  level.weight = Matrix(nodes * rows, flat.d);
  for (Index node = 0; node < nodes; ++node)
    for (Index c = 0; c < rows; ++c) {
      const Index at = (first + node) * flat.width + c;
      std::copy_n(flat.weight.data() + at * flat.d, flat.d, level.weight.row(node * rows + c));
      level.bias.push_back(flat.bias[static_cast<std::size_t>(at)]);
    }
  return level;
}

Tree read_tree(const Slice& weight, const Slice& bias) {
  const std::vector<Index>&w = weight.shape(), &b = bias.shape();
  const bool by_sign = w.size() == 2;
  if (w.size() < 2 || w.size() > 3 || b != std::vector<Index>(w.begin(), w.end() - 1))
    throw weight.refusal(
        "and 'tree_bias' have shapes " + shape_text(w) + " and " + shape_text(b) + " a head",
        "[nodes,d] and [nodes], or [nodes,b,d] and [nodes,b],");
  FlatTree flat{w[0], by_sign ? 1 : w[1], w.back(), weight.numbers(), bias.numbers()};
  require_finite(weight, flat.weight);
  std::vector<float> biases = flat.bias;
  std::erase(biases, -std::numeric_limits<float>::infinity());  // children that are not there
  require_finite(bias, biases);

  Tree tree;
  Index first = 0, nodes = 1;
  while (first < flat.nodes) {
    const Index branching = by_sign ? 2 : flat.children(first);
    if (nodes > flat.nodes - first)
      throw weight.refusal(
          "has " + std::to_string(flat.nodes) + " nodes",
          "whole levels, " + std::to_string(first + nodes) + " nodes with the next,");
    if (branching < 1)
      throw bias.refusal(
          "leaves node " + std::to_string(first) + " " + std::to_string(branching) + " children",
          "at least 1");
    for (Index node = first; node < first + nodes; ++node)
      for (Index c = 0; c < flat.width; ++c)
        if (flat.has_child(node, c) != (by_sign || c < branching))
          throw bias.refusal("is -inf elsewhere at node " + std::to_string(node) +
                                 " than at the first of its level",
                             "one branching a level");
    tree.levels.push_back(read_level(flat, first, nodes, branching, by_sign));
    first += nodes;
    if (__builtin_mul_overflow(nodes, branching, &nodes) || nodes > INT32_MAX)
      throw weight.refusal("has too many leaves", "fewer than 2^31");
  }
  return tree;
}

// --- writing ---

bool is_k_ary(const Tree& tree) {
  return tree.height() > 0 && !tree.levels[0].by_sign;
}

/// Rows a node takes: one by sign, else one for each child of the level with most.
Index width_of(const Tree& tree) {
  int width = 1;
  for (const TreeLevel& level : tree.levels) {
    if (level.by_sign == is_k_ary(tree))
      throw Error(1, "a tree with levels by sign and by argmax cannot be written");
    if (!level.by_sign) width = std::max(width, level.branching);
  }
  return width;
}

Index nodes_of(const Tree& tree) {
  Index count = 0;
  for (int l = 0; l < tree.height(); ++l) count += tree.nodes(l);
  return count;
}

void append_tree(const Tree& tree, std::vector<float>& weight, std::vector<float>& bias) {
  const Index width = width_of(tree);
  for (int l = 0; l < tree.height(); ++l) {
    const TreeLevel& level = tree.levels[static_cast<std::size_t>(l)];
    const Index rows = level.by_sign ? 1 : level.branching;
    for (Index node = 0; node < tree.nodes(l); ++node)
      for (Index c = 0; c < width; ++c) {
        const bool there = c < rows;
        const Index row = node * rows + c;
        bias.push_back(there ? level.bias[static_cast<std::size_t>(row)]
                             : -std::numeric_limits<float>::infinity());
        if (there)
          weight.insert(weight.end(), level.weight.row(row),
                        level.weight.row(row) + level.weight.cols());
        else
          weight.insert(weight.end(), static_cast<std::size_t>(level.weight.cols()), 0.0f);
      }
  }
}

/// [heads, values a head]; nothing when no head has any.
template <class T>
std::optional<OutTensor> flat_tensor(const std::string& name, const std::vector<Structure>& heads,
                                     std::vector<T> Structure::*member) {
  const std::size_t size = (heads[0].*member).size();
  std::vector<T> values;
  for (const Structure& head : heads) {
    if ((head.*member).size() != size)
      throw Error(1, "'" + name + "' has different sizes in different heads");
    values.insert(values.end(), (head.*member).begin(), (head.*member).end());
  }
  if (size == 0) return std::nullopt;
  return OutTensor{
      name, {static_cast<Index>(heads.size()), static_cast<Index>(size)}, std::move(values)};
}

void add_trees(const std::vector<Structure>& heads, std::vector<OutTensor>& out) {
  const Tree& first = heads[0].tree;
  std::vector<float> weight, bias;
  for (const Structure& head : heads) {
    if (head.tree.height() != first.height() || nodes_of(head.tree) != nodes_of(first) ||
        is_k_ary(head.tree) != is_k_ary(first) || width_of(head.tree) != width_of(first))
      throw Error(1, "the trees of different heads have different shapes");
    append_tree(head.tree, weight, bias);
  }
  if (first.height() == 0) return;
  std::vector<Index> shape{static_cast<Index>(heads.size()), nodes_of(first)};
  if (is_k_ary(first)) shape.push_back(width_of(first));
  out.push_back({"tree_bias", shape, std::move(bias)});
  shape.push_back(first.levels[0].weight.cols());
  out.push_back({"tree_weight", shape, std::move(weight)});
}

}  // namespace

Structure read_structure(const std::string& path, Index head, Index heads) {
  const TensorFile file = read_safetensors(path);
  const auto slice = [&](const char* name) -> std::optional<Slice> {
    const auto found = std::ranges::find(file.tensors, name, &NamedTensor::name);
    if (found == file.tensors.end()) return std::nullopt;
    return Slice(file, *found, head, heads);
  };
  Structure out;
  bool any = false;
  for (const auto& [name, member] : integer_members)
    if (const auto found = slice(name)) out.*member = found->integers(), any = true;
  if (const auto found = slice("alpha")) {
    out.alpha = found->numbers();
    require_finite(*found, out.alpha);
    any = true;
  }
  const auto weight = slice("tree_weight"), bias = slice("tree_bias");
  if (weight.has_value() != bias.has_value())
    throw InputError(
        path, weight ? "'tree_weight' without 'tree_bias'" : "'tree_bias' without 'tree_weight'");
  if (weight) out.tree = read_tree(*weight, *bias), any = true;
  if (!any) {
    std::string expected;
    for (const auto& [name, member] : integer_members) expected += std::string(name) + ", ";
    throw InputError(
        path, "no structure in it: " + expected + "alpha or tree_weight and tree_bias expected");
  }
  return out;
}

std::vector<OutTensor> structure_tensors(const std::vector<Structure>& heads) {
  std::vector<OutTensor> out;
  if (heads.empty()) return out;
  for (const auto& [name, member] : integer_members)
    if (auto tensor = flat_tensor(name, heads, member)) out.push_back(std::move(*tensor));
  if (auto tensor = flat_tensor("alpha", heads, &Structure::alpha))
    out.push_back(std::move(*tensor));
  add_trees(heads, out);
  return out;
}

}  // namespace fovea
