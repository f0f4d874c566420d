#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "data/random.h"
#include "io/bytes.h"
#include "io/safetensors.h"
#include "io/structure_file.h"
#include "io/structure_origin.h"
#include "messages.h"
#include "variants/tree_tensors.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Tree random_tree(const std::vector<int>& branching, bool by_sign, Index d, Random& random) {
  Tree tree;
  Index nodes = 1;
  for (const int children : branching) {
    TreeLevel level{children, by_sign, Matrix(nodes * (by_sign ? 1 : children), d), {}};
    for (Index row = 0; row < level.weight.rows(); ++row) {
      for (Index c = 0; c < d; ++c) level.weight(row, c) = static_cast<float>(random.normal());
      level.bias.push_back(static_cast<float>(random.normal()));
    }
    tree.levels.push_back(std::move(level));
    nodes *= children;
  }
  return tree;
}

/// Every tensor that a variant declares, in sizes of its own.
Structure random_structure(const std::vector<int>& branching, bool by_sign, Random& random) {
  Structure out;
  for (const char* name : {"query_order", "key_order", "sampled_keys", "query_leaf", "key_leaf",
                           "query_bucket", "key_bucket"}) {
    std::vector<std::int32_t> list;
    for (int i = 0; i < 5; ++i) list.push_back(static_cast<std::int32_t>(random.below(1000)));
    out.set(name, list);
  }
  out.set({"key_order", {3, 2}, std::vector<std::int32_t>{5, 4, 3, 2, 1, 0}});
  out.set("alpha", std::vector{0.25f, -1.5f});
  set_tree(out, random_tree(branching, by_sign, 3, random));
  return out;
}

void check_same(const Structure& a, const Structure& b) {
  REQUIRE(a.tensors().size() == b.tensors().size());
  for (const StructureTensor& tensor : a.tensors()) {
    CAPTURE(tensor.name);
    REQUIRE(b.has(tensor.name));
    CHECK(*b.find(tensor.name) == tensor);
  }
}

void check_same(const Tree& a, const Tree& b) {
  REQUIRE(a.height() == b.height());
  for (std::size_t l = 0; l < a.levels.size(); ++l) {
    const TreeLevel &x = a.levels[l], &y = b.levels[l];
    CHECK(x.branching == y.branching);
    CHECK(x.by_sign == y.by_sign);
    CHECK(x.bias == y.bias);
    REQUIRE(x.weight.rows() == y.weight.rows());
    REQUIRE(x.weight.cols() == y.weight.cols());
    for (Index i = 0; i < x.weight.rows(); ++i)
      for (Index c = 0; c < x.weight.cols(); ++c) CHECK(x.weight(i, c) == y.weight(i, c));
  }
}

Structure read(const std::vector<OutTensor>& tensors, Index head = 0, Index heads = 1) {
  const TemporaryDirectory directory;
  write_safetensors(directory / "s.safetensors", tensors, {});
  return read_structure(directory / "s.safetensors", head, heads);
}

OutTensor integers(const std::string& name, std::vector<Index> shape,
                   std::vector<std::int32_t> values) {
  return {name, std::move(shape), std::move(values)};
}
OutTensor numbers(const std::string& name, std::vector<Index> shape, std::vector<float> values) {
  return {name, std::move(shape), std::move(values)};
}

}  // namespace

TEST_CASE("a structure written is read back, head by head, for binary and k-ary trees") {
  Random random(1, 1);
  struct Case {
    std::vector<int> branching;
    bool by_sign;
  };
  for (const Case& c : {Case{{2, 2, 2}, true}, Case{{2}, true}, Case{{4, 2, 3}, false},
                        Case{{2, 5}, false}, Case{{1, 1}, false}, Case{{}, true}}) {
    std::vector<Structure> heads;
    std::vector<Tree> trees;
    for (int h = 0; h < 3; ++h) {
      heads.push_back(random_structure(c.branching, c.by_sign, random));
      trees.push_back(random_tree(c.branching, c.by_sign, 3, random));
      set_tree(heads.back(), trees.back());
    }
    const std::vector<OutTensor> tensors = structure_tensors(heads);
    for (Index h = 0; h < 3; ++h) {
      const Structure found = read(tensors, h, 3);
      check_same(found, heads[static_cast<std::size_t>(h)]);
      check_same(tree_of(found), trees[static_cast<std::size_t>(h)]);
    }
  }
}

TEST_CASE("structure: shapes on disk are those of the commands' reference") {
  Random random(1, 2);
  for (const OutTensor& tensor : structure_tensors({random_structure({2, 2}, true, random)})) {
    if (tensor.name == "tree_weight") CHECK(tensor.shape == std::vector<Index>{1, 3, 3});
    if (tensor.name == "tree_bias") CHECK(tensor.shape == std::vector<Index>{1, 3});
    if (tensor.name == "query_order") CHECK(tensor.shape == std::vector<Index>{1, 5});
    if (tensor.name == "key_order") CHECK(tensor.shape == std::vector<Index>{1, 3, 2});
    if (tensor.name == "alpha") CHECK(tensor.shape == std::vector<Index>{1, 2});
  }
  for (const OutTensor& tensor : structure_tensors({random_structure({2, 4}, false, random)}))
    if (tensor.name == "tree_weight") CHECK(tensor.shape == std::vector<Index>{1, 3, 4, 3});
  CHECK(structure_tensors({Structure{}, Structure{}}).empty());
  CHECK(structure_tensors({}).empty());
}

TEST_CASE("structure: one head serves all, further axes are kept, other tensors ignored") {
  const Structure found =
      read({integers("key_order", {1, 2, 3}, {0, 1, 2, 3, 4, 5}), numbers("z", {1, 1}, {0})}, 7, 8);
  CHECK(found.integers("key_order") == std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
  CHECK(found.find("key_order")->shape == std::vector<Index>{2, 3});
  CHECK_FALSE(found.has("query_order"));
  const TemporaryDirectory directory;
  write_bytes(directory / "s.safetensors",
              safetensors_bytes("{" + entry("key_leaf", "I64", "[1,1]", "[0,8]") + "}",
                                bytes_of(std::int64_t{9})));
  CHECK(read_structure(directory / "s.safetensors", 0, 1).integers("key_leaf") ==
        std::vector<std::int32_t>{9});
}

TEST_CASE("structure: wrong shapes, types and values are refused by name") {
  CHECK_SAYS(read({numbers("z", {1}, {0})}), "s.safetensors", "has no tensor of a structure",
             "query_order", "tree_weight");
  CHECK_SAYS(read({integers("key_order", {2, 1}, {0, 1})}, 0, 3), "'key_order' has shape [2,1]",
             "expected [3,...], a slice for each head, or [1,...], one for all heads");
  CHECK_SAYS(read({integers("key_order", {1}, {0})}), "'key_order' has shape [1]");
  CHECK_SAYS(read({integers("key_order", {1, 0}, {})}), "[1,0]", "at least one value");
  // An empty tensor may have sizes whose product no integer holds.
  const TemporaryDirectory directory;
  write_bytes(
      directory / "huge.safetensors",
      safetensors_bytes(
          "{" + entry("key_order", "I32", "[1,4611686018427387904,8,0]", "[0,0]") + "}", ""));
  CHECK_SAYS(read_structure(directory / "huge.safetensors", 0, 1), "4611686018427387904",
             "at least one value");
  CHECK_SAYS(read({integers("key_order", {1, 1}, {-1})}), "'key_order' holds -1", "indices from 0");
  CHECK_SAYS(read({numbers("key_order", {1, 1}, {0})}), "dtype F32", "I32 or I64");
  CHECK_SAYS(read({integers("alpha", {1, 1}, {0})}), "'alpha' has dtype I32", "F32");
  CHECK_SAYS(read({numbers("alpha", {1, 2}, {0, NAN})}),
             "'alpha' has NaN, Inf or a number beyond 1e14 at element 1");
  CHECK_SAYS(read({numbers("alpha", {1, 2}, {0, 3e38f})}), "beyond 1e14 at element 1");
  CHECK_SAYS(read({numbers("alpha", {1, 1}, {-INFINITY})}), "'alpha' has NaN, Inf or");
}

TEST_CASE("structure: tensors that are not a tree are refused by name") {
  CHECK_SAYS(tree_of(read({numbers("tree_weight", {1, 1, 2}, {0, 0})})),
             "tree_weight: 'tree_bias' is missing");
  CHECK_SAYS(tree_of(read({numbers("tree_bias", {1, 1}, {0})})),
             "tree_bias: 'tree_weight' is missing");
  const auto tree = [](std::vector<Index> w, std::vector<Index> b, std::vector<float> bias) {
    std::size_t count = 1;
    for (const Index size : w) count *= static_cast<std::size_t>(size);
    return tree_of(read(
        {numbers("tree_weight", w, std::vector<float>(count)), numbers("tree_bias", b, bias)}));
  };
  const float none = -std::numeric_limits<float>::infinity();
  CHECK_SAYS(tree({1, 3, 2}, {1, 2}, {0, 0}), "[3,2] and [2] a head", "[nodes,d] and [nodes]");
  CHECK_SAYS(tree({1, 2, 2}, {1, 2}, {0, 0}), "has 2 nodes",
             "expected whole levels: 1 nodes, or 3 with the next");
  CHECK_SAYS(tree({1, 1, 1, 1, 1}, {1, 1, 1, 1}, {0}), "a head");
  CHECK_SAYS(tree({1, 1, 2}, {1, 1}, {NAN}), "'tree_bias' has NaN");
  CHECK_SAYS(tree({1, 1, 2}, {1, 1}, {none}), "-inf");
  CHECK_SAYS(tree({1, 1, 2, 3}, {1, 1, 2}, {none, 0}), "leaves node 0 with 0 children");
  CHECK_SAYS(tree({1, 3, 2, 3}, {1, 3, 2}, {0, 0, 0, 0, 0, none}), "at node 2",
             "one branching for each level");
}

TEST_CASE("structure: a file says which heads it is of, and damaged metadata says nothing") {
  const TemporaryDirectory directory;
  const std::string path = directory / "s.safetensors";
  const auto origin = [&](const std::string& key, const std::string& text) {
    write_safetensors(path, {integers("key_leaf", {1, 1}, {0})}, {{key, text}});
    return origin_of_structure(path);
  };
  const auto fit = origin("fit", R"({"about": [["layer", "1"], ["heads", "0,2"]]})");
  REQUIRE(fit);
  CHECK(note_of_origin("s", *fit, 1, {0}, 2) == "");
  CHECK(note_of_origin("s", *fit, 1, {0, 1}, 2) ==
        "s was fitted for layer 1, heads 0, 2; it is applied to layer 1, heads 0 to 1");
  const auto computed = origin("fovea", R"({"layer": 0, "metrics": [{"head": 3}]})");
  REQUIRE(computed);
  CHECK(note_of_origin("s", *computed, 0, {3}, 8) == "");
  CHECK(note_of_origin("s", *computed, 2, {3}, 8) ==
        "s was computed for layer 0, head 3; it is applied to layer 2, head 3");
  for (const char* text : {"", "[", "[]", "{}", R"({"about": 3})", R"({"about": [["heads"]]})",
                           R"({"about": [["heads", "0,]"]]})", R"({"about": [["layer", "x"]]})",
                           R"({"layer": "0", "metrics": [{"head": 3}]})",
                           R"({"layer": 0, "metrics": []})", R"({"layer": 0, "metrics": [{}]})"})
    for (const char* key : {"fit", "fovea", "other"}) {
      CAPTURE(key);
      CAPTURE(text);
      CHECK_FALSE(origin(key, text));
    }
}
