#include "io/tensor_source.h"

#include <doctest/doctest.h>

#include "io/bytes.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Element e of the tensor, in C order, is `first + e`.
NamedTensor tensor(const std::string& name, const std::vector<Index>& shape, float first = 0) {
  std::size_t count = 1;
  for (const Index size : shape) count *= static_cast<std::size_t>(size);
  auto values = std::make_shared<std::vector<float>>(count);
  for (std::size_t e = 0; e < count; ++e) (*values)[e] = first + static_cast<float>(e);
  return {.name = name,
          .dtype = "F32",
          .type = ElementType::f32,
          .shape = shape,
          .strides = packed_strides(shape, 4),
          .bytes = bytes_in_memory(std::as_bytes(std::span(*values)), values)};
}

TensorFile file_of(std::vector<NamedTensor> tensors,
                   std::map<std::string, std::string> metadata = {}) {
  return {"dir/x.npz", "npz", std::move(tensors), std::move(metadata), {}};
}

/// q, k, v of this shape.
TensorFile alike(const std::vector<Index>& shape,
                 std::map<std::string, std::string> metadata = {}) {
  return file_of({tensor("q", shape), tensor("k", shape, 1000), tensor("v", shape, 2000)},
                 std::move(metadata));
}

/// The elements of q of a head, for comparison with the layout's definition.
float element(const Source& source, Index layer, Index head, Index row, Index col) {
  return source.layers.at(static_cast<std::size_t>(layer)).q.read(head)(row, col);
}

}  // namespace

TEST_CASE("usual shapes are read by rank, without a guess") {
  const Source plain = source_from_tensors(alike({5, 3}));
  CHECK(plain.name == "x");
  CHECK(plain.path == "dir/x.npz");
  CHECK(plain.kind == "npz");
  CHECK(plain.layout == "[n,d]");
  CHECK_FALSE(plain.layout_guessed);
  REQUIRE(plain.layers.size() == 1);
  CHECK(plain.layers[0].heads() == 1);
  CHECK(plain.layers[0].lengths().n() == 5);
  CHECK(plain.layers[0].d() == 3);

  const Source heads = source_from_tensors(alike({2, 5, 3}));
  CHECK(heads.layout == "[H,n,d]");
  CHECK_FALSE(heads.layout_guessed);
  CHECK(heads.notes.empty());
  CHECK(element(heads, 0, 1, 4, 2) == 1 * 15 + 4 * 3 + 2);
}

TEST_CASE("a batch becomes one layer for each member, with a name") {
  const Source source = source_from_tensors(
      file_of({tensor("layer0.q", {2, 2, 5, 3}), tensor("layer0.k", {2, 2, 5, 3}),
               tensor("layer0.v", {2, 2, 5, 3})}));
  REQUIRE(source.layers.size() == 2);
  CHECK(source.layout == "[B,H,n,d]");
  CHECK(source.layers[0].name == "layer0 batch0");
  CHECK(source.layers[1].name == "layer0 batch1");
  CHECK(element(source, 1, 1, 4, 2) == 1 * 30 + 1 * 15 + 4 * 3 + 2);
  CHECK(source_from_tensors(alike({1, 2, 5, 3})).layers[0].name.empty());
}

TEST_CASE("layers are in natural order, under every usual way of naming") {
  std::vector<NamedTensor> tensors;
  for (const char* prefix : {"layer10.", "layer2.", "model.layers.1.self_attn."})
    for (const char* name : {"q_proj", "k_proj", "v_proj"})
      tensors.push_back(tensor(std::string(prefix) + name, {5, 3}));
  for (const char* name : {"L3_query", "L3_key", "L3_value"})
    tensors.push_back(tensor(name, {5, 3}));
  for (const char* name : {"Q", "K", "V"}) tensors.push_back(tensor(name, {5, 3}));
  tensors.push_back(tensor("q.weight", {5, 3}));  // not a known ending: ignored
  const Source source = source_from_tensors(file_of(tensors));
  std::vector<std::string> names;
  for (const Layer& layer : source.layers) names.push_back(layer.name);
  CHECK(names ==
        std::vector<std::string>{"", "L3", "layer2", "layer10", "model.layers.1.self_attn"});
}

TEST_CASE("a stated layout is followed: argument before metadata") {
  const TensorFile file = alike({2, 5, 4, 3}, {{"layout", "[B,n,H,d]"}});
  const Source by_metadata = source_from_tensors(file);
  CHECK(by_metadata.layout == "[B,n,H,d]");
  CHECK_FALSE(by_metadata.layout_guessed);
  CHECK(by_metadata.layers[1].heads() == 4);
  CHECK(element(by_metadata, 1, 3, 4, 2) == 1 * 60 + 4 * 12 + 3 * 3 + 2);
  const Source by_argument = source_from_tensors(file, "d, H, n, B");
  CHECK(by_argument.layout == "[d,H,n,B]");
  REQUIRE(by_argument.layers.size() == 3);
  CHECK(element(by_argument, 2, 4, 3, 1) == 1 * 60 + 4 * 12 + 3 * 3 + 2);
}

TEST_CASE("packed q, k, v are taken apart") {
  const Source usual = source_from_tensors(file_of({tensor("qkv", {7, 3, 2, 4})}));
  CHECK(usual.layout == "[n,3,H,d]");
  CHECK_FALSE(usual.layout_guessed);
  const Layer& layer = usual.layers.at(0);
  CHECK(layer.heads() == 2);
  CHECK(layer.q.read(1)(6, 3) == 6 * 24 + 0 * 8 + 1 * 4 + 3);
  CHECK(layer.k.read(1)(6, 3) == 6 * 24 + 1 * 8 + 1 * 4 + 3);
  CHECK(layer.v.read(1)(6, 3) == 6 * 24 + 2 * 8 + 1 * 4 + 3);
  CHECK(source_from_tensors(file_of({tensor("qkv", {2, 7, 3, 2, 4})})).layers.size() == 2);
  CHECK(source_from_tensors(file_of({tensor("qkv", {3, 2, 7, 4})})).layout == "[3,H,n,d]");
  CHECK(source_from_tensors(file_of({tensor("qkv", {3, 3, 7, 4})})).layout_guessed);
  const Source stated = source_from_tensors(file_of({tensor("qkv", {2, 7, 3, 4})}), "[H,n,3,d]");
  CHECK(stated.layers.at(0).v.read(1)(6, 3) == 1 * 84 + 6 * 12 + 2 * 4 + 3);
}

TEST_CASE("more heads than tokens is a guess, shown with the other reading") {
  const Source source = source_from_tensors(alike({64, 12, 8}));
  CHECK(source.layout == "[H,n,d]");
  CHECK(source.layout_guessed);
  REQUIRE(source.notes.size() == 1);
  CHECK(contains(source.notes[0], "'q' [64,12,8] as [H,n,d] (64 heads of 12 tokens)"));
  CHECK(contains(source.notes[0], "--layout [n,H,d]"));
  CHECK(source_from_tensors(alike({1, 64, 12, 8})).layout_guessed);
  CHECK(source_from_tensors(alike({12, 12, 8})).layout_guessed);
  CHECK_FALSE(source_from_tensors(alike({12, 64, 8})).layout_guessed);
  CHECK_FALSE(source_from_tensors(alike({1, 1, 8})).layout_guessed);
  CHECK_FALSE(source_from_tensors(alike({64, 12, 8}), "[n,H,d]").layout_guessed);
}

TEST_CASE("an attention matrix alone, or beside q, k, v") {
  const Source alone = source_from_tensors(file_of({tensor("layer3.attention", {2, 5, 5})}));
  REQUIRE(alone.layers.size() == 1);
  CHECK_FALSE(alone.layers[0].has_qk());
  CHECK(alone.layers[0].lengths().n() == 5);
  CHECK(alone.layers[0].attention.read(1)(4, 3) == 25 + 23);
  CHECK(source_from_tensors(file_of({tensor("a", {5, 5})})).layers[0].heads() == 1);
  TensorFile both = alike({2, 5, 3});
  both.tensors.push_back(tensor("attention", {2, 5, 5}));
  CHECK(source_from_tensors(both).layers.at(0).attention.present());
  both.tensors.back() = tensor("attention", {2, 4, 4});
  CHECK_SAYS(source_from_tensors(both), "'attention' [2,4,4] as [H,n,n]",
             "attention of these queries and keys");
  const Source cross = source_from_tensors(file_of({tensor("a", {5, 4})}));
  CHECK(cross.layers[0].lengths() == Lengths{5, 4});
}

TEST_CASE("fewer key heads are grouped, a number that does not divide is refused") {
  TensorFile file =
      file_of({tensor("q", {4, 9, 3}), tensor("k", {2, 9, 3}), tensor("v", {2, 9, 5})});
  const Source source = source_from_tensors(file);
  CHECK(source.layers[0].heads() == 4);
  CHECK(source.layers[0].k.heads == 2);
  CHECK(source.layers[0].dv() == 5);
  file.tensors[0] = tensor("q", {3, 9, 3});
  CHECK_SAYS(source_from_tensors(file), "x.npz", "'q' [3,9,3]", "divide the query heads");
}

TEST_CASE("shapes that disagree are refused with all of them") {
  const auto refuse = [](std::vector<Index> q, std::vector<Index> k, std::vector<Index> v) {
    return source_from_tensors(file_of({tensor("q", q), tensor("k", k), tensor("v", v)}));
  };
  CHECK_SAYS(refuse({8, 3}, {8, 2}, {8, 3}), "'q' [8,3] as [n,d], 'k' [8,2]",
             "the same d for q and k");
  CHECK_SAYS(refuse({8, 3}, {7, 3}, {8, 3}), "'k' [7,3]", "as many values as keys");
  CHECK_SAYS(refuse({8, 3}, {8, 3}, {7, 3}), "'v' [7,3]", "as many values as keys");
  CHECK_SAYS(refuse({2, 8, 3}, {2, 8, 3}, {1, 8, 3}), "as many key as value heads");
  CHECK_SAYS(refuse({2, 1, 8, 3}, {1, 1, 8, 3}, {2, 1, 8, 3}), "the same batch");
  CHECK_SAYS(refuse({0, 3}, {0, 3}, {0, 3}), "'q' [0,3]", "an empty tensor");
  CHECK_SAYS(refuse({8, 0}, {8, 0}, {8, 3}), "'q' [8,0]", "an empty tensor");
  CHECK_SAYS(refuse({8}, {8}, {8}), "'q' has shape [8]", "expected [n,d], [H,n,d] or [B,H,n,d]");
  CHECK_SAYS(refuse({1, 1, 1, 8, 3}, {8, 3}, {8, 3}), "[1,1,1,8,3]", "--layout");
  CHECK_SAYS(source_from_tensors(file_of({tensor("qkv", {7, 2, 4})})), "[7,2,4]", "[n,3,H,d]");
}

TEST_CASE("other numbers of queries than of keys are cross attention, or steps") {
  const auto source_of = [](std::vector<Index> q, std::vector<Index> k) {
    return source_from_tensors(file_of({tensor("q", q), tensor("k", k), tensor("v", k)}));
  };
  const Source cross = source_of({2, 5, 3}, {2, 9, 3});
  REQUIRE(cross.layers.size() == 1);
  CHECK(cross.layers[0].lengths() == Lengths{5, 9});
  CHECK(cross.notes.empty());
  const Problem problem = problem_of(cross, {.head = 1});
  CHECK(problem.lengths() == Lengths{5, 9});
  CHECK(problem.q(4, 2) == cross.layers[0].q.read(1)(4, 2));
  // A step has fewer tokens than heads; read otherwise its key heads would not divide them.
  CHECK_FALSE(source_of({4, 1, 8}, {2, 11, 8}).layout_guessed);
  CHECK(source_of({4, 2, 8}, {4, 2, 8}).layout_guessed);
}

TEST_CASE(
    "tokens are of the queries, of the keys, or of a sequence whose last tokens are queries") {
  const auto source_with = [](std::map<std::string, std::string> metadata) {
    TensorFile file = file_of({tensor("q", {2, 3}), tensor("k", {4, 3}), tensor("v", {4, 3})});
    file.metadata = std::move(metadata);
    return source_from_tensors(file);
  };
  using Tokens = std::vector<std::string>;
  const Source both =
      source_with({{"tokens", R"(["x","y"])"}, {"key_tokens", R"(["a","b","c","d"])"}});
  CHECK(sequence_of(both, 0).tokens == Tokens{"x", "y"});
  CHECK(key_sequence_of(both, 0).tokens == Tokens{"a", "b", "c", "d"});
  const Source crossed = source_with({{"tokens", R"(["a","b","c","d"])"}});
  CHECK(sequence_of(crossed, 0).tokens.empty());  // nothing says that both are of one sequence
  CHECK(key_sequence_of(crossed, 0).tokens == Tokens{"a", "b", "c", "d"});
  const Source steps = source_with({{"tokens", R"(["a","b","c","d"])"}, {"causal", "true"}});
  CHECK(sequence_of(steps, 0).tokens == Tokens{"c", "d"});
  CHECK(key_sequence_of(steps, 0).tokens == Tokens{"a", "b", "c", "d"});
  CHECK(steps.notes.empty());
  // A window is of one sequence, too, whether the file states a mask or not.
  for (const auto& said : {std::map<std::string, std::string>{{"window", "3"}},
                           {{"window", "3"}, {"causal", "true"}}}) {
    std::map<std::string, std::string> metadata = said;
    metadata["tokens"] = R"(["a","b","c","d"])";
    CHECK(sequence_of(source_with(metadata), 0).tokens == Tokens{"c", "d"});
  }
  TensorFile layer = file_of({tensor("a.q", {2, 3}), tensor("a.k", {4, 3}), tensor("a.v", {4, 3})});
  layer.metadata = {{"a.window", "3"}, {"a.tokens", R"(["a","b","c","d"])"}};
  CHECK(sequence_of(source_from_tensors(layer), 0).tokens == Tokens{"c", "d"});
  const Source queries = source_with({{"tokens", R"(["x","y"])"}});
  CHECK(sequence_of(queries, 0).tokens == Tokens{"x", "y"});
  CHECK(key_sequence_of(queries, 0).tokens.empty());
  const Source none = source_with({{"tokens", R"(["x","y","z"])"}});
  CHECK(sequence_of(none, 0).tokens.empty());
  REQUIRE(none.notes.size() == 1);
  CHECK(contains(none.notes[0], "3 tokens but 2 queries, 4 keys"));
}

TEST_CASE("missing and ambiguous tensors are reported") {
  CHECK_SAYS(source_from_tensors(file_of({tensor("q", {8, 3})})), "x.npz: 'q' without k, v",
             "expected q and k, and v for outputs");
  CHECK_SAYS(source_from_tensors(file_of({tensor("z", {8, 3}), tensor("lse", {8})})),
             "neither q, k, v nor attention", "'z' [8,3], 'lse' [8]");
  CHECK_SAYS(source_from_tensors(file_of({})), "no tensors");
  TensorFile file = alike({8, 3});
  file.tensors.push_back(tensor("query", {8, 3}));
  CHECK_SAYS(source_from_tensors(file), "'q' and 'query'", "expected one of them");
  file.tensors.back() = tensor("qkv", {8, 3, 3});
  CHECK_SAYS(source_from_tensors(file), "'qkv' and 'q'");
  file.tensors.back() = tensor("cross.q", {8, 3});
  const Source source = source_from_tensors(file);
  CHECK(source.layers.size() == 1);
  CHECK(source.notes == std::vector<std::string>{"Left out: 'cross.q' without k, v."});
  file.tensors[0].type.reset();
  file.tensors[0].dtype = "F8_E4M3";
  CHECK_SAYS(source_from_tensors(file), "'q' has dtype F8_E4M3");
}

TEST_CASE("layouts that are not valid or do not fit are refused") {
  for (const char* text :
       {"", "[]", "[n]", "[n,d", "[n;d]", "[n,n,d]", "[H,H,n,d]", "[B,x,n,d]", "[n,d,]"}) {
    const std::string said = message_of<UsageError>([&] {
      source_from_tensors(alike({8, 3}), text);
    });
    INFO(text << " gives " << said);
    CHECK(contains(said, "as in [B,n,H,d]"));
  }
  CHECK_SAYS(source_from_tensors(alike({8, 3}, {{"layout", "rows"}})),
             "metadata 'layout' is 'rows'");
  CHECK_SAYS(source_from_tensors(alike({8, 3}), "[H,n,d]"), "'q' has shape [8,3]",
             "[H,n,d] does not fit");
  CHECK_SAYS(source_from_tensors(alike({8, 3, 3}), "[n,3,d]"), "does not fit");
  CHECK_SAYS(source_from_tensors(file_of({tensor("qkv", {8, 3, 2})}), "[3,n,d]"),
             "axis 3 has size 8");
}

TEST_CASE("metadata: scale, mask, names, tokens and the image grid") {
  const Source source =
      source_from_tensors(alike({5, 3}, {{"scale", "0.25"},
                                         {"causal", "true"},
                                         {"model", "minilm"},
                                         {"layer", "3"},
                                         {"tokens", R"(["[CLS]","▁a","b","c","d"])"},
                                         {"image", R"({"grid": [2, 2], "prefix": 1})"}}));
  CHECK(source.scale == 0.25);
  CHECK(source.causal == true);
  CHECK(source.name == "minilm");
  CHECK(source.layers[0].name == "layer3");
  CHECK(source.sequence.tokens == std::vector<std::string>{"[CLS]", " a", "b", "c", "d"});
  CHECK(source.sequence.grid == ImageGrid{2, 2, 1});
  CHECK(source.notes.empty());
}

TEST_CASE("metadata: tokens and grids of another n are left out with both numbers") {
  const Source source = source_from_tensors(
      alike({5, 3}, {{"tokens", R"(["a","b"])"}, {"image", R"({"grid": [3, 2]})"}}));
  CHECK(source.sequence.tokens.empty());
  CHECK(!source.sequence.grid);
  REQUIRE(source.notes.size() == 2);
  CHECK(contains(source.notes[0], "2 tokens but n = 5"));
  CHECK(contains(source.notes[1], "3 x 2 patches after 0 tokens needs 6 positions, but n = 5"));
}

TEST_CASE("metadata: one token too many, and a grid that fits only without its prefix") {
  const Source source =
      source_from_tensors(alike({5, 3}, {{"tokens", R"(["a","b","c","d","e","f"])"},
                                         {"image", R"({"grid": [2, 2], "prefix": 2})"}}));
  CHECK(source.sequence.tokens.empty());
  CHECK(!source.sequence.grid);
  REQUIRE(source.notes.size() == 2);
  CHECK(contains(source.notes[0], "6 tokens but n = 5"));
  CHECK(contains(source.notes[1], "2 x 2 patches after 2 tokens needs 6 positions, but n = 5"));
  const Source fits =
      source_from_tensors(alike({5, 3}, {{"image", R"({"grid": [2, 2], "prefix": 1})"}}));
  CHECK(fits.sequence.grid == ImageGrid{2, 2, 1});
}

TEST_CASE("metadata: what cannot be read is refused") {
  const auto refuse = [](const char* key, const char* value) {
    return source_from_tensors(alike({5, 3}, {{key, value}}));
  };
  for (const char* scale : {"", "big", "0", "-1", "nan", "inf", "1.5x"})
    CHECK_SAYS(refuse("scale", scale), "x.npz", "'scale'", scale, "a number above 0");
  CHECK_SAYS(refuse("causal", "perhaps"), "'causal' is 'perhaps'", "true or false");
  CHECK_SAYS(refuse("tokens", "[\"a\""), "metadata 'tokens'", "not JSON");
  CHECK_SAYS(refuse("tokens", "{}"), "metadata 'tokens': the document is {}", "a list of strings");
  CHECK_SAYS(refuse("tokens", "[1]"), "'[0]' is 1; expected a string");
  for (const char* image :
       {"[2,2]", "{\"grid\":[2]}", "{\"grid\":[0,2]}", "{\"grid\":[2,-2]}", "{\"grid\":[2,1.5]}",
        "{\"grid\":[2,9999999999]}", "{\"grid\":[2,2],\"prefix\":-1}"})
    CHECK_SAYS(refuse("image", image), "'image'", "\"grid\": [rows, cols]");
}

// What looked at all tensors for each layer would not end: 20,000 layers times 60,000 tensors.
TEST_CASE("a file of very many layers is opened in one walk over its tensors") {
  constexpr Index layers = 20000;
  TensorFile file = file_of({});
  const NamedTensor plain = tensor("q", {1, 1, 1});
  for (Index layer = 0; layer < layers; ++layer)
    for (const char* role : {".q", ".k", ".v"}) {
      file.tensors.push_back(plain);
      file.tensors.back().name = "l" + std::to_string(layer) + role;
    }
  file.tensors.push_back(tensor("l19999.flash.z", {1, 1, 1}));
  file.tensors.push_back(tensor("sinks", {1}));
  const Source source = source_from_tensors(file);
  REQUIRE(std::ssize(source.layers) == layers);
  CHECK(source.layers[5].name == "l5");
  CHECK(source.layers[5].imported.empty());
  CHECK(source.layers[5].conditions.sinks.size() == 1);  // that of all layers
  REQUIRE(source.layers.back().imported.size() == 1);
  CHECK(source.layers.back().imported[0].name == "flash");
}

TEST_CASE("a member of a large batch costs what one of a small batch costs") {
  constexpr Index batch = 20000;
  std::vector<NamedTensor> tensors{tensor("q", {batch, 1, 1, 1}), tensor("k", {batch, 1, 1, 1}),
                                   tensor("v", {batch, 1, 1, 1})};
  for (Index other = 0; other < batch; ++other)
    tensors.push_back(tensor("other" + std::to_string(other), {1}));
  tensors.push_back(tensor("mask", {batch, 1, 1, 1}));
  const Source source = source_from_tensors(file_of(std::move(tensors)));
  REQUIRE(std::ssize(source.layers) == batch);
  CHECK(source.layers.back().conditions.bias.begin == 4 * (batch - 1));
}

TEST_CASE("the tensors of a layer are those after its whole prefix, in any case of letters") {
  const auto at = [](const char* prefix, const char* role) {
    return tensor(std::string(prefix) + role, {2, 2});
  };
  std::vector<NamedTensor> tensors;
  for (const char* prefix : {"layer1", "layer10", "layer1.cross"})
    for (const char* role : {".q", ".k", ".v"}) tensors.push_back(at(prefix, role));
  tensors.push_back(tensor("layer10.Z", {2, 2}, 10));
  tensors.push_back(tensor("layer1.cross.z", {2, 2}, 20));
  tensors.push_back(tensor("layer1:mine.z", {2, 2}, 30));
  tensors.push_back(tensor("LAYER1.z", {2, 2}, 40));  // of no layer
  const Source source = source_from_tensors(file_of(std::move(tensors)));
  REQUIRE(source.layers.size() == 3);
  const auto of = [&](const std::string& name) -> const Layer& {
    return *std::ranges::find(source.layers, name, &Layer::name);
  };
  REQUIRE(of("layer1").imported.size() == 1);  // layer1.cross is a layer of its own
  CHECK(of("layer1").imported[0].name == "mine");
  REQUIRE(of("layer10").imported.size() == 1);
  CHECK(of("layer10").imported[0].z.read(0)(0, 0) == 10);
  REQUIRE(of("layer1.cross").imported.size() == 1);
  CHECK(of("layer1.cross").imported[0].z.read(0)(0, 0) == 20);
}
