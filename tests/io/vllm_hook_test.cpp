// Files of vLLM-Hook: the same heads, saved plainly, are the same.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "harness.h"
#include "io/bytes.h"
#include "io/safetensors_writer.h"
#include "io/tensor_source.h"
#include "messages.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Sidecar = nlohmann::json;

constexpr Index query_heads = 4, key_heads = 2, width = 6;
constexpr const char* module_name = "model.layers.3.self_attn.attn";
constexpr const char* key_q = "model__layers__3__self_attn__attn__q";
constexpr const char* key_k = "model__layers__3__self_attn__attn__k";

Sidecar config_of_model() {
  return {{"num_attention_heads", query_heads},
          {"num_key_value_heads", key_heads},
          {"hidden_size", query_heads * width},
          {"head_dim", width},
          {"attention_multiplier", 0.3}};
}

/// What a file of one layer says.
Sidecar sidecar_of(const std::string& mode) {
  const Sidecar layer{{"key_q", key_q},
                      {"key_k", key_k},
                      {"module_name", module_name},
                      {"layer_num", 3},
                      {"hookq_mode", mode}};
  return {{"config", config_of_model()},
          {"layer_order", Sidecar::array({layer})},
          {"hookq_mode", mode},
          {"tp_rank", 0}};
}

/// Queries or keys of a member of the batch, [tokens, heads * width].
Matrix rows_of_member(Index tokens, Index heads, std::uint64_t seed) {
  return gaussian(tokens, heads * width, seed);
}

/// [members, longest, cols], behind each member what no one may read.
OutTensor padded_batch(const std::string& name, const std::vector<Matrix>& members) {
  Index longest = 0;
  for (const Matrix& m : members) longest = std::max(longest, m.rows());
  OutTensor out{name, {std::ssize(members), longest, members[0].cols()}, std::vector<float>()};
  auto& values = std::get<std::vector<float>>(out.values);
  for (const Matrix& m : members) {
    values.insert(values.end(), m.data(), m.data() + m.rows() * m.cols());
    values.insert(values.end(), static_cast<std::size_t>((longest - m.rows()) * m.cols()), 99.0f);
  }
  return out;
}

/// [all rows, cols], one member after another.
OutTensor joined_batch(const std::string& name, const std::vector<Matrix>& members) {
  OutTensor out{name, {0, members[0].cols()}, std::vector<float>()};
  auto& values = std::get<std::vector<float>>(out.values);
  for (const Matrix& m : members) {
    out.shape[0] += m.rows();
    values.insert(values.end(), m.data(), m.data() + m.rows() * m.cols());
  }
  return out;
}

class HookFile {
 public:
  HookFile(const std::vector<OutTensor>& tensors, const Sidecar& sidecar) {
    write_safetensors(path(), tensors, {});
    std::ofstream(folder_ / "qk.json") << sidecar.dump();
  }
  std::string path() const { return folder_ / "qk.safetensors"; }
  Source open() const { return source_from_tensors(read_safetensors(path())); }

 private:
  TemporaryDirectory folder_;
};

/// The columns of one head.
Matrix head_of(const Matrix& rows, Index head) {
  Matrix out(rows.rows(), width);
  for (Index i = 0; i < rows.rows(); ++i)
    std::copy_n(rows.row(i) + head * width, width, out.row(i));
  return out;
}

void check_equal(MatrixView a, MatrixView b) {
  REQUIRE(a.rows == b.rows);
  REQUIRE(a.cols == b.cols);
  for (Index i = 0; i < a.rows; ++i)
    for (Index c = 0; c < a.cols; ++c) REQUIRE(a(i, c) == b(i, c));
}

/// The layer has these queries, which are the last of these keys, in every head.
void check_layer(const Source& source, Index layer, const Matrix& queries, const Matrix& keys) {
  CHECK(source.layers[static_cast<std::size_t>(layer)].heads() == query_heads);
  for (Index h = 0; h < query_heads; ++h) {
    const Problem found = problem_of(source, {.layer = layer, .head = h});
    Problem plain = make_problem(head_of(queries, h), head_of(keys, h / (query_heads / key_heads)),
                                 Matrix(keys.rows(), 0), 0.3, true, h);
    check_equal(found.q, plain.q);
    check_equal(found.k, plain.k);
    CHECK(found.scale == doctest::Approx(0.3));
    CHECK(found.causal);
    CHECK_FALSE(found.has_values());
    const auto p_of = [](const Problem& problem) {
      return make_instance(*backends().front(), problem, "exact", {}).all();
    };
    check_equal(p_of(found), p_of(plain));
  }
}

std::vector<std::string> names_of_layers(const Source& source) {
  std::vector<std::string> names;
  for (const Layer& layer : source.layers) names.push_back(layer.name);
  return names;
}

using LayerNames = std::vector<std::string>;

/// Two members of 5 and 8 tokens.
struct TwoMembers {
  std::vector<Matrix> q, k;
  TwoMembers() {
    for (const Index tokens : {5, 8}) {
      q.push_back(rows_of_member(tokens, query_heads, static_cast<std::uint64_t>(tokens)));
      k.push_back(rows_of_member(tokens, key_heads, static_cast<std::uint64_t>(10 + tokens)));
    }
  }
  Sidecar sidecar() const {
    Sidecar out = sidecar_of("all_tokens");
    out["batch_size"] = 2;
    out["q_seq_lens"] = out["k_seq_lens"] = {5, 8};
    return out;
  }
  std::vector<OutTensor> tensors() const {
    return {padded_batch(key_q, q), padded_batch(key_k, k)};
  }
};

}  // namespace

TEST_CASE("vLLM-Hook: a padded batch is a layer for each member, without the padding") {
  const TwoMembers two;
  const Source source = HookFile(two.tensors(), two.sidecar()).open();
  CHECK(names_of_layers(source) == LayerNames{"layer3 batch0", "layer3 batch1"});
  for (Index b = 0; b < 2; ++b)
    check_layer(source, b, two.q[static_cast<std::size_t>(b)], two.k[static_cast<std::size_t>(b)]);
  REQUIRE(source.notes.size() == 1);
  CHECK(source.notes[0].starts_with("There are no values v: "));
}

TEST_CASE("vLLM-Hook: a batch of one has the name of its layer, or of its module") {
  const TwoMembers two;
  Sidecar sidecar = two.sidecar();
  sidecar["q_seq_lens"] = sidecar["k_seq_lens"] = {5};
  const std::vector<OutTensor> one{padded_batch(key_q, {two.q[0]}),
                                   padded_batch(key_k, {two.k[0]})};
  CHECK(names_of_layers(HookFile(one, sidecar).open()) == LayerNames{"layer3"});
  sidecar["layer_order"][0].erase("layer_num");
  CHECK(names_of_layers(HookFile(one, sidecar).open()) == LayerNames{module_name});
}

TEST_CASE("vLLM-Hook: last_token is one query, the last of the keys of its member") {
  const TwoMembers two;
  Sidecar sidecar = sidecar_of("last_token");
  sidecar["k_seq_lens"] = {5, 8};
  std::vector<Matrix> last;
  for (const Matrix& q : two.q)
    last.push_back(Matrix::copy_of(q.view().slice({q.rows() - 1, q.rows()})));
  const Source source =
      HookFile({joined_batch(key_q, last), padded_batch(key_k, two.k)}, sidecar).open();
  CHECK(names_of_layers(source) == LayerNames{"layer3 batch0", "layer3 batch1"});
  for (Index b = 0; b < 2; ++b)
    check_layer(source, b, last[static_cast<std::size_t>(b)], two.k[static_cast<std::size_t>(b)]);
}

TEST_CASE("vLLM-Hook: in the compact form pieces that follow each other are one head") {
  const TwoMembers two;
  Sidecar sidecar = sidecar_of("all_tokens");
  sidecar["compact_all_tokens"] = true;
  sidecar["q_seq_lens"] = {3, 1, 1, 8};  // 5 tokens in three steps, 8 at once
  sidecar["k_full_lens"] = {5, 8};
  sidecar["k_prefix_ends"] = {{3, 4, 5}, {8}};
  const std::vector<OutTensor> tensors{joined_batch(key_q, two.q), joined_batch(key_k, two.k)};
  const Source source = HookFile(tensors, sidecar).open();
  CHECK(names_of_layers(source) == LayerNames{"layer3 batch0", "layer3 batch1"});
  for (Index b = 0; b < 2; ++b)
    check_layer(source, b, two.q[static_cast<std::size_t>(b)], two.k[static_cast<std::size_t>(b)]);

  // The queries of two tokens between them were not kept.
  sidecar["q_seq_lens"] = {2, 3, 8};
  sidecar["k_full_lens"] = {7, 8};
  sidecar["k_prefix_ends"] = {{2, 7}, {8}};
  const Matrix seven = rows_of_member(7, key_heads, 77);
  const Source apart =
      HookFile({joined_batch(key_q, two.q), joined_batch(key_k, {seven, two.k[1]})}, sidecar)
          .open();
  CHECK(names_of_layers(apart) ==
        LayerNames{"layer3 batch0 part0", "layer3 batch0 part1", "layer3 batch1 part0"});
  const auto part = [](const Matrix& of, IndexRange rows) {
    return Matrix::copy_of(of.view().slice(rows));
  };
  check_layer(apart, 0, part(two.q[0], {0, 2}), part(seven, {0, 2}));
  check_layer(apart, 1, part(two.q[0], {2, 5}), seven);
  check_layer(apart, 2, two.q[1], two.k[1]);

  // A batch of one has no number, however many pieces it has.
  sidecar["q_seq_lens"] = {2, 3};
  sidecar["k_full_lens"] = {7};
  sidecar["k_prefix_ends"] = {{2, 7}};
  const Source one =
      HookFile({joined_batch(key_q, {two.q[0]}), joined_batch(key_k, {seven})}, sidecar).open();
  CHECK(names_of_layers(one) == LayerNames{"layer3 part0", "layer3 part1"});
}

TEST_CASE(
    "vLLM-Hook: in the compact form a batch is the same, however its members are cut in steps") {
  const TwoMembers two;
  const std::vector<std::vector<Index>> cuts_of_5{{5}, {3, 1, 1}, {1, 4}, {1, 1, 1, 1, 1}},
      cuts_of_8{{8}, {5, 3}, {1, 6, 1}, {2, 2, 2, 2}};
  const std::vector<OutTensor> tensors{joined_batch(key_q, {two.q[0], two.q[1], two.q[0]}),
                                       joined_batch(key_k, {two.k[0], two.k[1], two.k[0]})};
  for (const auto& first : cuts_of_5)
    for (const auto& second : cuts_of_8)
      for (const auto& third : cuts_of_5) {
        Sidecar sidecar = sidecar_of("all_tokens");
        sidecar["compact_all_tokens"] = true;
        sidecar["k_full_lens"] = {5, 8, 5};
        sidecar["q_seq_lens"] = sidecar["k_prefix_ends"] = Sidecar::array();
        for (const auto* cut : {&first, &second, &third}) {
          Sidecar ends = Sidecar::array();
          Index end = 0;
          for (const Index tokens : *cut) {
            sidecar["q_seq_lens"].push_back(tokens);
            ends.push_back(end += tokens);
          }
          sidecar["k_prefix_ends"].push_back(ends);
        }
        CAPTURE(sidecar.dump());
        const Source source = HookFile(tensors, sidecar).open();
        REQUIRE(names_of_layers(source) ==
                LayerNames{"layer3 batch0", "layer3 batch1", "layer3 batch2"});
        for (Index b = 0; b < 3; ++b) {
          const std::size_t member = b == 1 ? 1 : 0;
          const Problem found = problem_of(source, {.layer = b, .head = 3});
          check_equal(found.q, head_of(two.q[member], 3));
          check_equal(found.k, head_of(two.k[member], 1));
        }
      }
}

TEST_CASE("vLLM-Hook: heads wider than hidden_size says are as wide as the tensors say") {
  const TwoMembers two;
  Sidecar sidecar = two.sidecar();
  sidecar["config"]["head_dim"] = width / 2;
  sidecar["config"]["attention_multiplier"] = 1 / std::sqrt(width / 2.0);
  const Source source = HookFile(two.tensors(), sidecar).open();
  CHECK(source.layers[0].heads() == query_heads);
  CHECK(source.layers[0].d() == width);
  CHECK(*source.scale == doctest::Approx(1 / std::sqrt(6.0)));
}

TEST_CASE("vLLM-Hook: the heads of one rank of a tensor-parallel model are counted from 0") {
  const TwoMembers two;
  Sidecar sidecar = two.sidecar();
  sidecar["config"]["num_attention_heads"] = 2 * query_heads;
  sidecar["config"]["num_key_value_heads"] = 2 * key_heads;
  for (const bool stated : {false, true}) {
    if (stated)
      sidecar["tp_shard"] = {{"num_local_q_heads", query_heads},
                             {"num_local_kv_heads", key_heads},
                             {"head_dim", width}};
    const Source source = HookFile(two.tensors(), sidecar).open();
    CHECK(source.layers[0].heads() == query_heads);
    REQUIRE(source.notes.size() == 2);
    CHECK(contains(source.notes[0], "4 of the model's 8 heads"));
  }
}

TEST_CASE("vLLM-Hook: a sidecar that is incomplete or contradicts the tensors is an error") {
  const TwoMembers two;
  const auto check = [&](const auto& change, std::initializer_list<std::string> parts) {
    Sidecar sidecar = two.sidecar();
    change(sidecar);
    const HookFile file(two.tensors(), sidecar);
    check_says(message_of([&] { file.open(); }), parts);
  };
  check([](Sidecar& s) { s.erase("layer_order"); }, {"qk.json: 'layer_order' is missing"});
  check([](Sidecar& s) { s["layer_order"] = 3; }, {"'layer_order' is 3", "a list of layers"});
  check([](Sidecar& s) { s["layer_order"][0]["key_q"] = "x"; },
        {"qk.json: 'layer_order[0].key_q' is \"x\"", "expected a tensor of", "qk.safetensors"});
  check([](Sidecar& s) { s["layer_order"][0]["hookq_mode"] = "some"; },
        {"'layer_order[0].hookq_mode' is \"some\"", "expected all_tokens or last_token"});
  check(
      [](Sidecar& s) {
        s["q_seq_lens"] = {5, 9};
      },
      {"'q_seq_lens'", "the longest 9", "has shape [2,8,24]", "at most 8"});
  check([](Sidecar& s) { s["k_seq_lens"] = {5}; }, {"'k_seq_lens' lists 1 length", "2 members"});
  check(
      [](Sidecar& s) {
        s["k_seq_lens"] = {4, 8};
      },
      {"member 0", "5 queries, 4 keys", "the last of their keys"});
  check([](Sidecar& s) { s["k_seq_lens"] = {0, 8}; }, {"'k_seq_lens[0]' is 0"});
  check([](Sidecar& s) { s["config"].erase("num_attention_heads"); },
        {"'config.num_attention_heads' is missing"});
  check([](Sidecar& s) { s["config"]["num_attention_heads"] = 3; },
        {"says 3 query heads and 2 key heads of width 8", "[2,8,24]", "[2,8,12]"});
  check([](Sidecar& s) { s["config"]["num_key_value_heads"] = 3; },
        {"4 query heads and 3 key heads"});
  check([](Sidecar& s) { s["config"]["attention_multiplier"] = "x"; },
        {"'config.attention_multiplier'", "a number above 0"});
  check([](Sidecar& s) { s["compact_all_tokens"] = true; },
        {"qk.safetensors: ", "has shape [2,8,24]", "expected [tokens,heads d]"});

  Sidecar compact = sidecar_of("all_tokens");
  compact["compact_all_tokens"] = true;
  compact["q_seq_lens"] = {5, 8};
  compact["k_full_lens"] = {5, 8};
  compact["k_prefix_ends"] = {{5}, {8}};
  const std::vector<OutTensor> joined{joined_batch(key_q, two.q), joined_batch(key_k, two.k)};
  const auto check_compact = [&](const char* key, const Sidecar& value,
                                 std::initializer_list<std::string> parts) {
    Sidecar sidecar = compact;
    sidecar[key] = value;
    const HookFile file(joined, sidecar);
    check_says(message_of([&] { file.open(); }), parts);
  };
  check_compact("q_seq_lens", {5, 7}, {"'q_seq_lens' adds up to 12", "has shape [13,24]"});
  check_compact("k_full_lens", {5, 9}, {"'k_full_lens' adds up to 14", "expected 13"});
  check_compact("k_prefix_ends", Sidecar::array({Sidecar::array({5})}),
                {"'k_prefix_ends' lists 1 ends of 1 member"});
  check_compact("k_prefix_ends", {{5}, {9}}, {"'k_prefix_ends[1]' has 9", "at most 8"});
}

TEST_CASE("vLLM-Hook: a missing sidecar is named, and a stated layout does without it") {
  const TemporaryDirectory folder;
  const std::string path = folder / "qk.safetensors";
  const TwoMembers two;
  write_safetensors(path, {padded_batch(key_q, two.k), padded_batch(key_k, two.k)}, {});
  const TensorFile file = read_safetensors(path);
  CHECK_SAYS(source_from_tensors(file),
             "qk.safetensors: tensors are called as vLLM-Hook calls them", "qk.json is not there",
             "expected this file");
  CHECK(source_from_tensors(file, "[B,n,d]").layers.size() == 2);
  std::filesystem::create_symlink("qk.json", folder / "qk.json");  // to itself
  CHECK_SAYS(source_from_tensors(file), "qk.json: cannot be reached: Too many levels");
}
