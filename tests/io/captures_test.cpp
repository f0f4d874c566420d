// Heads recorded from models (tests/captures): exact attention is the model's own output.
#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <map>

#include "backend/backend.h"
#include "harness.h"
#include "io/tensor_source.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Source capture(const std::string& name) {
  return source_from_tensors(
      read_safetensors(std::string(FOVEA_TESTS) + "/captures/" + name + ".safetensors"), {});
}

/// Largest |Z - z| of a layer over the largest |z|, of all heads.
double error_of(const Source& source, Index at, HeadChoice choice) {
  const Layer& layer = source.layers[static_cast<std::size_t>(at)];
  double error = 0, largest = 0;
  for (Index h = 0; h < layer.heads(); ++h) {
    choice.layer = at;
    choice.head = h;
    const Problem problem = problem_of(source, choice);
    const Matrix z = make_instance(*backends().front(), problem, "exact", {}).apply(problem.v).z,
                 own = layer.imported.front().z.read(h);
    for (Index i = 0; i < z.rows(); ++i)
      for (Index c = 0; c < z.cols(); ++c) {
        error = larger_error(error, static_cast<double>(z(i, c)) - static_cast<double>(own(i, c)));
        largest = std::max(largest, std::abs(static_cast<double>(own(i, c))));
      }
  }
  return error / largest;
}

/// What rounding of the model's type explains: bf16 rounds weights and outputs to 8 bits, and sums
/// of them in fp32; fp32 models round as Fovea does.
double tolerance_of(const Layer& layer) {
  return layer.q.type == ElementType::bf16 ? 0x1p-7 : 2e-6;
}

}  // namespace

TEST_CASE("a recorded recurrence gives the output of its model") {
  int layers = 0;
  for (const char* name : {"qwen3_next", "kimi_linear", "mamba2"}) {
    const Source source = capture(name);
    for (Index l = 0; l < std::ssize(source.layers); ++l) {
      const Layer& layer = source.layers[static_cast<std::size_t>(l)];
      INFO(name << ", " << layer.name);
      layers += problem_of(source, {.layer = l}).recurrence != nullptr;
      // 20 steps whose states are rounded to fp32 on both sides.
      CHECK(error_of(source, l, {}) <= 20 * 0x1p-23);
    }
  }
  CHECK(layers > 3);
}

TEST_CASE("exact attention of recorded heads is the output of their models") {
  int layers = 0;
  for (const char* name : {"llama", "mistral", "gemma2", "t5", "bloom", "gpt_oss", "whisper_cross",
                           "bert_padded", "vit", "masks", "deepseek_v4"}) {
    const Source source = capture(name);
    for (Index l = 0; l < std::ssize(source.layers); ++l, ++layers) {
      const Layer& layer = source.layers[static_cast<std::size_t>(l)];
      INFO(name << ", " << layer.name);
      REQUIRE(layer.imported.size() == 1);
      REQUIRE(layer.imported.front().z.present());
      CHECK(error_of(source, l, {}) <= tolerance_of(layer));
    }
  }
  CHECK(layers == 35);
}

TEST_CASE("each condition of a recorded head matters: without it the output is another") {
  const auto far = [](const std::string& name, Index layer, auto change) {
    Source source = capture(name);
    HeadChoice choice;
    change(source.layers[static_cast<std::size_t>(layer)].conditions, choice);
    const double error = error_of(source, layer, choice);
    INFO(name << ": " << error);
    CHECK(error > 0.02);
  };
  far("mistral", 0, [](LayerConditions&, HeadChoice& c) { c.conditions.window = 0; });
  far("mistral", 0, [](LayerConditions&, HeadChoice& c) { c.conditions.window = 4; });
  far("gemma2", 1, [](LayerConditions&, HeadChoice& c) { c.conditions.soft_cap = 0; });
  far("gemma2", 0, [](LayerConditions& its, HeadChoice&) { its.window.reset(); });
  far("t5", 2, [](LayerConditions& its, HeadChoice&) { its.bias = {}; });
  far("bloom", 0, [](LayerConditions& its, HeadChoice&) { its.alibi.clear(); });
  far("gpt_oss", 0, [](LayerConditions& its, HeadChoice&) { its.sinks.clear(); });
  far("bert_padded", 1, [](LayerConditions& its, HeadChoice&) { its.mask = {}; });
  far("masks", 1, [](LayerConditions& its, HeadChoice&) { its.mask = {}; });
}

TEST_CASE("recorded cross attention and steps have the tokens of their queries and keys") {
  const Source t5 = capture("t5");
  REQUIRE(t5.layers[0].name == "cross.layer0");
  CHECK(t5.layers[0].lengths() == Lengths{7, 13});
  CHECK(sequence_of(t5, 0).label(0) == "w13");
  CHECK(key_sequence_of(t5, 0).label(0) == "w33");
  const Source llama = capture("llama");
  REQUIRE(llama.layers[2].name == "layer0.step2");
  CHECK(llama.layers[2].lengths() == Lengths{1, 12});
  CHECK(llama.notes.empty());
  const Problem step = problem_of(llama, {.layer = 2});
  CHECK(step.causal);
  CHECK(step.admits(0, 11));
  CHECK(sequence_of(llama, 2).tokens == std::vector<std::string>{"w36"});
  CHECK(key_sequence_of(llama, 2).tokens.back() == "w36");
}

TEST_CASE("biases that depend on the distance take no n x n numbers") {
  const Source source = capture("t5");
  REQUIRE(source.layers[2].name == "decoder.layer0");
  const Problem problem = problem_of(source, {.layer = 2});
  REQUIRE(problem.rule);
  CHECK(problem.rule->bias.empty());
  CHECK(problem.rule->by_distance.size() == 13);  // of 7 tokens
}
