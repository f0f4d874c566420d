// What files say of how heads are computed beside q, k and v: read, and refused where it is wrong.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <span>

#include "io/tensor_source.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

NamedTensor real_tensor(const std::string& name, std::vector<Index> shape,
                        std::vector<float> values) {
  auto kept = std::make_shared<std::vector<float>>(std::move(values));
  return {.name = name,
          .dtype = "F32",
          .type = ElementType::f32,
          .shape = shape,
          .strides = packed_strides(shape, 4),
          .bytes = bytes_in_memory(std::as_bytes(std::span(*kept)), kept)};
}

NamedTensor bytes(const std::string& name, std::vector<Index> shape,
                  std::vector<std::uint8_t> values) {
  auto kept = std::make_shared<std::vector<std::uint8_t>>(std::move(values));
  return {.name = name,
          .dtype = "BOOL",
          .type = ElementType::boolean,
          .shape = shape,
          .strides = packed_strides(shape, 1),
          .bytes = bytes_in_memory(std::as_bytes(std::span(*kept)), kept)};
}

NamedTensor whole_tensor(const std::string& name, std::vector<Index> shape,
                         std::vector<std::int64_t> values) {
  auto kept = std::make_shared<std::vector<std::int64_t>>(std::move(values));
  return {.name = name,
          .dtype = "I64",
          .type = ElementType::i64,
          .shape = shape,
          .strides = packed_strides(shape, 8),
          .bytes = bytes_in_memory(std::as_bytes(std::span(*kept)), kept)};
}

NamedTensor integers(const std::string& name, std::vector<std::int64_t> values) {
  const Index count = std::ssize(values);
  return whole_tensor(name, {count}, std::move(values));
}

/// Two heads of four tokens, with more.
Source source_with(std::vector<NamedTensor> more, std::map<std::string, std::string> metadata = {},
                   const std::string& prefix = "") {
  const std::vector<Index> shape{2, 4, 3};
  std::vector<NamedTensor> tensors;
  for (const char* name : {"q", "k", "v"})
    tensors.push_back(real_tensor(prefix + name, shape, std::vector<float>(24, 0.5f)));
  tensors.insert(tensors.end(), more.begin(), more.end());
  return source_from_tensors({"dir/x.npz", "npz", std::move(tensors), std::move(metadata), {}}, {});
}

std::string admitted(const Problem& problem) {
  std::string text;
  for (Index i = 0; i < problem.queries(); ++i) {
    for (Index j = 0; j < problem.keys(); ++j) text += problem.admits(i, j) ? '1' : '0';
    text += i + 1 < problem.queries() ? " " : "";
  }
  return text;
}

}  // namespace

TEST_CASE("a mask of pairs states the mask, and one of padding does not") {
  CHECK(mask_is_assumed(source_with({bytes("mask", {4}, {1, 1, 1, 0})}), 0));
  const std::vector<std::uint8_t> pairs(16, 1);
  CHECK_FALSE(mask_is_assumed(source_with({bytes("mask", {4, 4}, pairs)}), 0));
}

TEST_CASE("masks of keys, of pairs and of each head are read, also of integers") {
  const Source keys = source_with({bytes("mask", {4}, {1, 0, 1, 1})});
  CHECK(admitted(problem_of(keys, {})) == "1011 1011 1011 1011");
  CHECK(keys.layers[0].conditions.text() == "padding");
  CHECK(admitted(problem_of(source_with({integers("attention_mask", {1, 1, 0, 0})}), {})) ==
        "1100 1100 1100 1100");
  const std::vector<std::uint8_t> pairs{1, 0, 0, 0, 1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0, 0};
  const Source square = source_with({bytes("mask", {4, 4}, pairs)});
  CHECK(admitted(problem_of(square, {})) == "1000 1100 0110 0000");
  CHECK(square.layers[0].conditions.text() == "a mask of pairs");
  std::vector<std::uint8_t> two = pairs;
  two.insert(two.end(), 16, 1);
  const Source heads = source_with({bytes("mask", {2, 4, 4}, two)});
  CHECK(admitted(problem_of(heads, {})) == "1000 1100 0110 0000");
  CHECK(admitted(problem_of(heads, {.head = 1})) == "1111 1111 1111 1111");
}

TEST_CASE("a mask of a floating type is a bias, of which -Inf and what fp32 cannot add exclude") {
  const float low = std::numeric_limits<float>::lowest(), inf = HUGE_VALF;
  const Source source = source_with({real_tensor(
      "attention_mask", {4, 4}, {0, low, -inf, -65504, 1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 3})});
  const Problem problem = problem_of(source, {});
  CHECK(admitted(problem) == "1001 1111 1111 1111");
  CHECK(problem.rule->bias_of(0, 3, 4) == -65504);
  const double own = problem.scale * 0.75;  // q.k
  CHECK(problem.logit(1, 0) == doctest::Approx(own + 1));
  CHECK(problem.logit(2, 1) == doctest::Approx(own + 2));
  CHECK(problem.logit(3, 3) == doctest::Approx(own + 3));
}

TEST_CASE("every mask and bias that a layer has excludes pairs, whichever others it has") {
  const float inf = HUGE_VALF;
  // What each admits: a mask of keys or pairs, a bias of keys or pairs, documents.
  const struct {
    NamedTensor tensor;
    std::vector<std::string> rows;
  } masks[] = {{bytes("mask", {4}, {1, 0, 1, 1}), {"1011", "1011", "1011", "1011"}},
               {bytes("mask", {4, 4}, {1, 0, 1, 1, 1, 1, 0, 1, 1, 1, 1, 1, 0, 1, 1, 1}),
                {"1011", "1101", "1111", "0111"}}},
    biases[] = {
        {real_tensor("bias", {4}, {0, 0, -inf, 2}), {"1101", "1101", "1101", "1101"}},
        {real_tensor("bias", {4, 4}, {0, 0, 0, -inf, 1, 0, 0, 0, -inf, 0, 0, 2, 0, -inf, 0, 0}),
         {"1110", "1111", "0111", "1011"}}};
  const std::vector<std::string> documents{"1100", "1100", "0011", "0011"};
  for (const auto& mask : masks)
    for (const auto& bias : biases)
      for (const bool with_documents : {false, true}) {
        CAPTURE(mask.tensor.shape.size());
        CAPTURE(bias.tensor.shape.size());
        CAPTURE(with_documents);
        std::vector<NamedTensor> tensors{mask.tensor, bias.tensor};
        if (with_documents) tensors.push_back(integers("segment_ids", {0, 0, 1, 1}));
        std::string expected;
        for (std::size_t i = 0; i < 4; ++i) {
          expected += i ? " " : "";
          for (std::size_t j = 0; j < 4; ++j)
            expected += mask.rows[i][j] == '1' && bias.rows[i][j] == '1' &&
                                (!with_documents || documents[i][j] == '1')
                            ? '1'
                            : '0';
        }
        CHECK(admitted(problem_of(source_with(tensors), {})) == expected);
      }
}

TEST_CASE("biases of keys and of distances take a number each, others one a pair") {
  const Problem keys = problem_of(source_with({real_tensor("bias", {4}, {0, 1, 2, 3})}), {});
  CHECK(keys.rule->by_key == std::vector<float>{0, 1, 2, 3});
  std::vector<float> apart;
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) apart.push_back(static_cast<float>(10 * (i - j)));
  const Problem distances = problem_of(source_with({real_tensor("bias", {1, 4, 4}, apart)}), {});
  CHECK(distances.rule->bias.empty());
  CHECK(distances.rule->bias_of(3, 0, 4) == 30);
  CHECK(distances.rule->bias_of(0, 3, 4) == -30);
  apart[5] = 7;
  const Problem pairs = problem_of(source_with({real_tensor("bias", {4, 4}, apart)}), {});
  CHECK(pairs.rule->by_distance.empty());
  CHECK(pairs.rule->bias_of(1, 1, 4) == 7);
  CHECK(pairs.rule->bias_of(2, 0, 4) == 20);
}

TEST_CASE("ALiBi slopes, sinks and documents are those of the head") {
  const Source source =
      source_with({real_tensor("alibi", {2}, {0.5, 0.25}), real_tensor("s_aux", {2}, {1, -1}),
                   integers("cu_seqlens", {0, 1, 4})});
  const Problem second = problem_of(source, {.head = 1});
  CHECK(second.rule->bias_of(3, 1, 4) == -0.5);  // slope (j - i)
  CHECK(second.rule->sink == -1.0);
  CHECK(admitted(second) == "1000 0111 0111 0111");
  CHECK(admitted(problem_of(source_with({integers("segment_ids", {7, 3, 7, 3})}), {})) ==
        "1010 0101 1010 0101");
}

TEST_CASE("queries are the last tokens of their keys: documents, causal masks and windows") {
  const auto source = [](std::vector<NamedTensor> more, std::map<std::string, std::string> says) {
    std::vector<NamedTensor> tensors{real_tensor("q", {1, 2, 3}, std::vector<float>(6, 0.5f)),
                                     real_tensor("k", {1, 5, 3}, std::vector<float>(15, 0.5f)),
                                     real_tensor("v", {1, 5, 3}, std::vector<float>(15, 0.5f))};
    tensors.insert(tensors.end(), more.begin(), more.end());
    return source_from_tensors({"x.npz", "npz", std::move(tensors), std::move(says), {}}, {});
  };
  const auto segments = integers("segments", {0, 0, 1, 1, 2});
  CHECK(admitted(problem_of(source({segments}, {}), {})) == "00110 00001");
  CHECK(admitted(problem_of(source({}, {{"causal", "true"}}), {})) == "11110 11111");
  CHECK(admitted(problem_of(source({}, {{"causal", "true"}, {"window", "2"}}), {})) ==
        "00110 00011");
  CHECK(problem_of(source({real_tensor("alibi", {1}, {0.5f})}, {}), {}).logit(0, 0) ==
        doctest::Approx(0.75 / std::sqrt(3.0) - 0.5 * 3));
}

TEST_CASE("metadata of the file, of a layer, and what a person sets, in ascending order") {
  const std::map<std::string, std::string> metadata{
      {"window", "3"},        {"softcap", "50"},         {"causal", "false"},
      {"layer1.window", "2"}, {"layer1.causal", "true"}, {"layer1.scale", "0.125"}};
  const Source all = source_with({}, metadata, "layer0.");
  const Problem plain = problem_of(all, {});
  CHECK(plain.window == 3);
  CHECK(plain.rule->soft_cap == 50);
  CHECK_FALSE(plain.causal);
  const Source own = source_with({}, metadata, "layer1.");
  const Problem its = problem_of(own, {});
  CHECK(its.window == 2);
  CHECK(its.causal);
  CHECK(its.scale == 0.125);
  CHECK(admitted(its) == "1000 1100 0110 0011");
  const Problem by_hand =
      problem_of(own, {.conditions = {.causal = false, .window = 0, .soft_cap = 0.0}});
  CHECK(by_hand.window == 0);
  CHECK_FALSE(by_hand.causal);
  CHECK(by_hand.rule == nullptr);
}

TEST_CASE("tokens of a layer are its own") {
  const Source source = source_with(
      {}, {{"tokens", R"(["a","b","c","d"])"}, {"layer0.tokens", R"(["e","f","g","h"])"}},
      "layer0.");
  CHECK(sequence_of(source, 0).tokens.front() == "e");
  CHECK(source.sequence.tokens.front() == "a");
}

TEST_CASE("conditions that are wrong are refused with what was found and expected") {
  CHECK_SAYS(source_with({bytes("mask", {3}, {1, 1, 1})}), "'mask' has shape [3]",
             "expected [4], [4,4] or [2,4,4]");
  CHECK_SAYS(source_with({real_tensor("bias", {3, 4, 4}, std::vector<float>(48))}), "[3,4,4]");
  CHECK_SAYS(source_with({real_tensor("alibi", {3}, {1, 2, 3})}), "'alibi' has shape [3]",
             "[2], one for each head");
  CHECK_SAYS(source_with({real_tensor("sinks", {2}, {1, NAN})}), "'sinks' holds NaN or Inf");
  CHECK_SAYS(source_with({integers("cu_seqlens", {0, 3})}), "goes from 0 to 3", "n = 4");
  CHECK_SAYS(source_with({integers("cu_seqlens", {0, 3, 2, 4})}), "ascending");
  CHECK_SAYS(source_with({integers("segments", {0, -1, 0, 0})}), "holds -1", "whole numbers");
  CHECK_SAYS(source_with({real_tensor("segments", {4}, {0, 0.5, 1, 1})}), "0.5", "whole numbers");
  CHECK_SAYS(source_with({real_tensor("z", {2, 4, 2}, std::vector<float>(16))}), "'z' has shape",
             "expected [2,4,3]");
  CHECK_SAYS(source_with({bytes("z", {2, 4, 3}, std::vector<std::uint8_t>(24))}), "BOOL");
  CHECK_SAYS(problem_of(source_with({real_tensor("bias", {4}, {0, NAN, 0, 0})}), {}),
             "bias at [0,1]", "NaN");
  CHECK_SAYS(problem_of(source_with({real_tensor("bias", {4}, {0, 0, HUGE_VALF, 0})}), {}), "Inf");
  CHECK_SAYS(problem_of(source_with({real_tensor("bias", {4}, {0, 1, 2, 3e38f})}), {}),
             "bias at [0,3] is 3×10³⁸", "up to 1e30");
  CHECK_SAYS(
      problem_of(source_with({real_tensor("alibi", {2}, {1, 2e29f})}), {.head = 1}),
      "slope of head 1 is 2×10²⁹; expected a magnitude up to 1.25×10²⁹, for biases up to 1e30");
  CHECK_SAYS(problem_of(source_with({real_tensor("sinks", {2}, {1, -3e38f})}), {.head = 1}),
             "sink of head 1 is -3×10³⁸; expected a magnitude up to 1e30");
  for (const char* window : {"0", "-1", "2.5", "x", ""}) {
    CAPTURE(window);
    CHECK_SAYS(source_with({}, {{"window", window}}), "metadata 'window'", "1 or more");
  }
  CHECK_SAYS(source_with({}, {{"softcap", "0"}}), "metadata 'softcap' is '0'", "above 0");
  CHECK_SAYS(source_with({}, {{"layer0.causal", "yes"}}, "layer0."), "'layer0.causal' is 'yes'");
  NamedTensor unknown = bytes("mask", {4}, {1, 1, 1, 1});
  unknown.type.reset();
  unknown.dtype = "F8_E4M3";
  CHECK_SAYS(source_with({unknown}), "F8_E4M3");
}

TEST_CASE("other tensors of a layer than these are not taken for conditions") {
  const Source source = source_with({real_tensor("layer0.q_proj.bias", {7}, std::vector<float>(7)),
                                     real_tensor("layer0.masked", {7}, std::vector<float>(7))},
                                    {}, "layer0.");
  CHECK(source.layers[0].conditions.text().empty());
}

namespace {

/// Numbers h + (t + 1) / 10 of head h and token t, negated if they are decays.
std::vector<float> gate_values(Index heads, Index tokens, float sign, bool tokens_first = false) {
  std::vector<float> values(static_cast<std::size_t>(heads * tokens));
  for (Index h = 0; h < heads; ++h)
    for (Index t = 0; t < tokens; ++t)
      values[static_cast<std::size_t>(tokens_first ? t * heads + h : h * tokens + t)] =
          sign * (static_cast<float>(h) + static_cast<float>(t + 1) / 10);
  return values;
}

}  // namespace

TEST_CASE("gates beside q, k and v make their heads a recurrence, which is causal") {
  const Source source = source_with({real_tensor("beta", {2, 4}, gate_values(2, 4, 1)),
                                     real_tensor("log_decay", {2, 4}, gate_values(2, 4, -1)),
                                     real_tensor("lambda", {2, 4, 3}, std::vector(24, 2.0f))});
  CHECK(source.layers[0].conditions.text() == "a recurrence in place of a softmax");
  CHECK(stated_causal(source, 0) == true);
  const Problem problem = problem_of(source, {.head = 1});
  REQUIRE(problem.recurrence);
  CHECK(problem.causal);
  CHECK(problem.recurrence->erases);
  CHECK(problem.recurrence->beta == std::vector{1.1f, 1.2f, 1.3f, 1.4f});
  CHECK(problem.recurrence->log_decay(2, 0) == -1.3f);
  CHECK(problem.recurrence->level_weights(3, 2) == 2);
  CHECK(conditions_text(problem) == ", log-linear gated delta rule");
}

TEST_CASE("a decay alone erases nothing, and metadata say otherwise, of a file or of a layer") {
  const auto erases = [](std::map<std::string, std::string> metadata) {
    const Source source =
        source_with({real_tensor("layer0.log_decay", {2, 4, 3}, std::vector(24, -1.0f))},
                    std::move(metadata), "layer0.");
    return problem_of(source, {}).recurrence->erases;
  };
  CHECK_FALSE(erases({}));
  CHECK(erases({{"recurrence", "delta"}}));
  CHECK(erases({{"layer0.recurrence", "delta"}}));
  CHECK_FALSE(erases({{"recurrence", "delta"}, {"layer0.recurrence", "linear"}}));
  const Source plain = source_with({}, {{"recurrence", "linear"}});
  CHECK(problem_of(plain, {}).recurrence->name() == "linear attention");
  CHECK_FALSE(problem_of(source_with({}), {}).recurrence);
}

TEST_CASE("gates of a batch belong to its members") {
  const std::vector<Index> shape{2, 1, 4, 3};
  std::vector<NamedTensor> tensors;
  for (const char* name : {"q", "k", "v"})
    tensors.push_back(real_tensor(name, shape, std::vector<float>(24, 0.5f)));
  tensors.push_back(real_tensor("beta", {2, 1, 4}, {.1f, .2f, .3f, .4f, .5f, .6f, .7f, .8f}));
  const Source source = source_from_tensors({"x.npz", "npz", std::move(tensors), {}, {}}, {});
  REQUIRE(source.layers.size() == 2);
  CHECK(problem_of(source, {.layer = 1}).recurrence->beta == std::vector{.5f, .6f, .7f, .8f});
}

TEST_CASE("hooks of TransformerLens have tokens before heads, and q and k from before the norm") {
  std::vector<NamedTensor> tensors;
  for (const char* name : {"hook_q", "hook_k", "hook_v"})
    tensors.push_back(
        real_tensor("blocks.0." + std::string(name), {1, 4, 2, 3}, std::vector<float>(24, 2.0f)));
  tensors.push_back(real_tensor("blocks.0.hook_beta", {1, 4, 2}, gate_values(2, 4, 1, true)));
  tensors.push_back(real_tensor("blocks.0.hook_log_decay", {1, 4, 2}, gate_values(2, 4, -1, true)));
  const Source source = source_from_tensors({"x.npz", "npz", std::move(tensors), {}, {}}, {});
  const Problem problem = problem_of(source, {.head = 1});
  CHECK(problem.recurrence->beta == std::vector{1.1f, 1.2f, 1.3f, 1.4f});
  CHECK(problem.recurrence->log_decay(3, 0) == -1.4f);
  CHECK(problem.k(0, 0) == doctest::Approx(1 / std::sqrt(3.0)));
  CHECK(problem.v(0, 0) == 2);
}

TEST_CASE("numbers of something else, called beta or lambda, make no recurrence") {
  const Source source = source_with({real_tensor("beta", {3}, {1, 1, 1}),  // of a LayerNorm
                                     real_tensor("lambda", {2}, {1, 1})});
  CHECK_FALSE(problem_of(source, {}).recurrence);
  CHECK_FALSE(problem_of(source_with({real_tensor("lambda", {2, 4}, std::vector(8, 1.0f))}), {})
                  .recurrence);
}

TEST_CASE("what a recurrence cannot have is refused, with what was found") {
  const auto message = [](std::vector<NamedTensor> more,
                          std::map<std::string, std::string> metadata, HeadChoice choice = {}) {
    return message_of<InputError>(
        [&] { problem_of(source_with(std::move(more), std::move(metadata)), choice); });
  };
  const NamedTensor beta = real_tensor("beta", {2, 4}, gate_values(2, 4, 1));
  const std::string it = "dir/x.npz: head 0 is a recurrence (delta rule)",
                    expected = "; expected a causal mask and no condition beside its scale";
  CHECK(message({beta}, {{"causal", "false"}}) == it + " without a causal mask" + expected);
  CHECK(message({beta}, {{"window", "2"}}) == it + " with sliding window 2" + expected);
  CHECK(message({beta, real_tensor("sinks", {2}, {0, 0})}, {}) == it + " with sink" + expected);
  CHECK(message({real_tensor("beta", {2, 5}, std::vector(10, 1.0f))}, {{"recurrence", "delta"}}) ==
        "dir/x.npz: 'beta' has shape [2,5]; expected [2,4]");
  CHECK(message({real_tensor("log_decay", {2, 4, 2}, std::vector(16, -1.0f))}, {}) ==
        "dir/x.npz: 'log_decay' has shape [2,4,2]; expected [2,4] or [2,4,3]");
  CHECK(message({real_tensor("log_decay", {2, 4}, std::vector(8, 0.25f))}, {}) ==
        "dir/x.npz, head 0: log_decay of token 0 is 0.25; expected a finite number up to 0");
  CHECK(message({beta}, {{"recurrence", "gated"}}) ==
        "dir/x.npz: metadata 'recurrence' is 'gated'; expected delta or linear");
  HeadChoice capped;
  capped.conditions.soft_cap = 5;
  CHECK(message({beta}, {}, capped) == it + " with soft cap 5" + expected);
}

namespace {

/// Two heads of four tokens with two entries of two tokens, or with `tokens` in their place.
std::vector<NamedTensor> compressed_tensors(std::vector<std::int64_t> tokens = {0, 2, 2, 4}) {
  const auto count = std::ssize(tokens) / 2;
  std::vector<float> k(static_cast<std::size_t>(2 * count * 3)), v = k;
  for (std::size_t x = 0; x < k.size(); ++x) {
    k[x] = static_cast<float>(x);
    v[x] = -static_cast<float>(x);
  }
  return {real_tensor("k_extra", {2, count, 3}, k), real_tensor("v_extra", {2, count, 3}, v),
          whole_tensor("extra_tokens", {count, 2}, std::move(tokens))};
}

/// The same with one more tensor.
std::vector<NamedTensor> compressed_beside(NamedTensor one) {
  std::vector<NamedTensor> all = compressed_tensors();
  all.push_back(std::move(one));
  return all;
}

/// The same without the tensor of this name.
std::vector<NamedTensor> compressed_without(const std::string& name) {
  std::vector<NamedTensor> all = compressed_tensors();
  std::erase_if(all, [&](const NamedTensor& tensor) { return tensor.name == name; });
  return all;
}

}  // namespace

TEST_CASE("compressed entries are keys behind the tokens, seen once their last token is") {
  const Source source = source_with(compressed_tensors(), {{"window", "2"}});
  const Layer& layer = source.layers[0];
  CHECK(layer.lengths() == Lengths{4, 6});
  CHECK(layer.tokens() == 4);
  CHECK(stated_causal(source, 0) == true);
  CHECK(layer.conditions.text() == "a sliding window of 2, 2 compressed entries");
  const Problem head = problem_of(source, {.head = 1});
  CHECK(head.keys() == 6);
  for (Index c = 0; c < 3; ++c) {
    CHECK(head.k(3, c) == 0.5f);
    CHECK(head.k(4, c) == static_cast<float>(6 + c));
    CHECK(head.k(5, c) == static_cast<float>(9 + c));
    CHECK(head.v(5, c) == -static_cast<float>(9 + c));
  }
  CHECK(admitted(head) == "100000 110010 011010 001111");
  CHECK(conditions_text(head) == ", sliding window 2, 2 compressed entries");
  // What a person says by hand is of the tokens, too.
  CHECK(admitted(problem_of(source, {.conditions = {.causal = false, .window = 0}})) ==
        "111111 111111 111111 111111");
  CHECK(admitted(problem_of(source, {.conditions = {.window = 1}})) ==
        "100000 010010 001010 000111");
  CHECK(admitted(problem_of(source_with(compressed_tensors(), {{"causal", "false"}}), {})) ==
        "111111 111111 111111 111111");
}

TEST_CASE("compressed entries are of a layer, or of all layers, and may be chosen by each query") {
  std::vector<NamedTensor> named = compressed_tensors();
  for (NamedTensor& tensor : named)
    if (tensor.name != "extra_tokens") tensor.name = "layer3." + tensor.name;
  CHECK(admitted(problem_of(source_with(named, {}, "layer3."), {})) ==
        "100000 110010 111010 111111");
  const auto chosen = [](std::vector<std::int64_t> lists, std::vector<Index> shape, Index head) {
    const Source source = source_with(
        compressed_beside(whole_tensor("extra_indices", std::move(shape), std::move(lists))));
    CHECK(source.layers[0].conditions.text() == "2 compressed entries, chosen for each query");
    return admitted(problem_of(source, {.head = head}));
  };
  // Entry 1 has not closed before the last token.
  CHECK(chosen({0, 1, 1, -1, 0, 1, 1, 1}, {4, 2}, 1) == "100000 110000 111010 111101");
  CHECK(chosen({-1, -1, -1, -1, 0, 0, 0, 1}, {2, 4, 1}, 0) == "100000 110000 111000 111100");
  CHECK(chosen({-1, -1, -1, -1, 0, 0, 0, 1}, {2, 4, 1}, 1) == "100000 110010 111010 111101");
}

TEST_CASE("masks, biases and sinks beside compressed entries are of all keys") {
  const std::vector<std::uint8_t> keys{1, 1, 0, 1, 1, 0};
  CHECK(admitted(problem_of(source_with(compressed_beside(bytes("mask", {6}, keys))), {})) ==
        "100000 110010 110010 110110");
  std::vector<std::uint8_t> pairs(24, 1);
  pairs[4 * 3 + 4] = 0;  // query 2, entry 0
  CHECK(admitted(problem_of(source_with(compressed_beside(bytes("mask", {4, 6}, pairs))), {})) ==
        "100000 110010 111000 111111");
  const Problem biased =
      problem_of(source_with(compressed_beside(real_tensor("bias", {6}, {0, 1, 2, 3, 4, 5}))), {});
  CHECK(biased.rule->bias_of(3, 5, 6) == 5);
  const Problem sunk =
      problem_of(source_with(compressed_beside(real_tensor("sinks", {2}, {1, 2}))), {.head = 1});
  CHECK(sunk.rule->sink == 2);
  CHECK_THROWS_WITH_AS(
      problem_of(source_with(compressed_beside(integers("segments", {0, 0, 1, 1, 1, 1}))), {}),
      "dir/x.npz: 2 compressed entries beside documents; expected one of them", InputError);
  CHECK_THROWS_WITH_AS(
      problem_of(source_with(compressed_beside(real_tensor("alibi", {2}, {1, 1}))), {}),
      "dir/x.npz: 2 compressed entries beside ALiBi slopes; expected one of them", InputError);
}

TEST_CASE("weights beside compressed entries are of all keys, and so are names of keys") {
  const Source source =
      source_with(compressed_beside(real_tensor("p", {2, 4, 6}, std::vector<float>(48, 0.25f))),
                  {{"tokens", R"(["a","b","c","d"])"}});
  REQUIRE(source.layers[0].imported.size() == 1);
  CHECK(source.layers[0].imported[0].p.cols == 6);
  const Sequence& keys = key_sequence_of(source, 0);
  CHECK(keys.label(3) == "d");
  CHECK(keys.label(4) == "entry 0");
  CHECK(keys.numbered(5) == "entry 1: tokens 2–3");
  CHECK(sequence_of(source, 0).label(3) == "d");
  const Source other =
      source_with(compressed_tensors({1, 2, 1, 4}), {{"key_tokens", R"(["a","b","c","e"])"}});
  CHECK(key_sequence_of(other, 0).label(3) == "e");
  CHECK(key_sequence_of(other, 0).numbered(4) == "entry 0: token 1");
  CHECK_THROWS_WITH_AS(
      source_with(compressed_beside(real_tensor("p", {2, 4, 4}, std::vector<float>(32, 0.25f)))),
      "dir/x.npz: 'p' has shape [2,4,4]; expected [2,4,6]", InputError);
}

TEST_CASE("the queries of a step are the last tokens before the compressed entries") {
  std::vector<NamedTensor> tensors{real_tensor("q", {1, 2, 3}, std::vector<float>(6, 1)),
                                   real_tensor("k", {1, 4, 3}, std::vector<float>(12, 1)),
                                   real_tensor("k_extra", {1, 2, 3}, std::vector<float>(6, 2)),
                                   whole_tensor("extra_tokens", {2, 2}, {0, 2, 2, 4})};
  const auto read = [&](std::map<std::string, std::string> metadata) {
    metadata["layout"] = "[H,n,d]";
    return source_from_tensors({"dir/x.npz", "npz", tensors, metadata, {}}, {});
  };
  const Source source = read({{"window", "1"}, {"tokens", R"(["a","b","c","d"])"}});
  CHECK(admitted(problem_of(source, {})) == "001010 000111");
  CHECK(key_sequence_of(source, 0).label(2) == "c");
  CHECK(sequence_of(source, 0).label(0) == "c");
  tensors[0] = real_tensor("q", {1, 5, 3}, std::vector<float>(15, 1));
  CHECK_THROWS_WITH_AS(read({}),
                       "dir/x.npz: 'k_extra' beside 5 queries, 4 keys; expected at most as many "
                       "queries as tokens",
                       InputError);
}

TEST_CASE("compressed entries that do not fit are refused with what was found and expected") {
  const auto refused = [](std::vector<NamedTensor> tensors, const std::string& message) {
    CHECK_THROWS_WITH_AS(problem_of(source_with(std::move(tensors)), {}),
                         ("dir/x.npz" + message).c_str(), InputError);
  };
  refused(compressed_without("k_extra"), ": 'v_extra' without k_extra; expected both");
  refused(compressed_without("v_extra"), ": 'k_extra' without v_extra; expected both");
  refused(compressed_without("extra_tokens"), ": 'k_extra' without extra_tokens; expected both");
  const auto with = [](NamedTensor one) {
    std::vector<NamedTensor> all = compressed_without(one.name);
    all.push_back(std::move(one));
    return all;
  };
  refused(with(real_tensor("k_extra", {2, 2, 2}, std::vector<float>(8))),
          ": 'k_extra' has shape [2,2,2]; expected [2,2,3]");
  refused(with(real_tensor("k_extra", {3}, std::vector<float>(3))),
          ": 'k_extra' has shape [3]; expected [2,m,3] of m entries, 1 or more");
  refused(with(real_tensor("v_extra", {2, 1, 3}, std::vector<float>(6))),
          ": 'v_extra' has shape [2,1,3]; expected [2,2,3]");
  refused(with(whole_tensor("k_extra", {2, 2, 3}, std::vector<std::int64_t>(12))),
          ": 'k_extra' has dtype I64; expected F64, F32, F16 or BF16");
  refused(with(integers("extra_tokens", {0, 2, 4})),
          ": 'extra_tokens' has shape [3]; expected [2,2], the first token of each entry and one "
          "past the last");
  refused(with(real_tensor("extra_tokens", {2, 2}, {0, 2, 2, 4})),
          ": 'extra_tokens' has dtype F32; expected I32 or I64");
  refused(compressed_tensors({0, 2, 2, 5}),
          ", 'extra_tokens': entry 1 stands for the tokens [2,5); expected one or more of the 4 "
          "tokens");
  refused(compressed_tensors({0, 2, 3, 3}),
          ", 'extra_tokens': entry 1 stands for the tokens [3,3); expected one or more of the 4 "
          "tokens");
  refused(compressed_tensors({-1, 2, 2, 4}),
          ", 'extra_tokens': entry 0 stands for the tokens [-1,2); expected one or more of the 4 "
          "tokens");
  refused(compressed_tensors({2, 4, 0, 2}),
          ", 'extra_tokens': entry 1 stands for the tokens [0,2) after [2,4); expected entries in "
          "the order of their tokens");
  refused(compressed_tensors({0, 4, 1, 2}),
          ", 'extra_tokens': entry 1 stands for the tokens [1,2) after [0,4); expected entries in "
          "the order of their tokens");
  refused(compressed_beside(whole_tensor("extra_indices", {3, 1}, {0, 1, 0})),
          ": 'extra_indices' has shape [3,1]; expected [4,entries] or [2,4,entries]");
  refused(
      compressed_beside(whole_tensor("extra_indices", {3, 4, 1}, std::vector<std::int64_t>(12))),
      ": 'extra_indices' has shape [3,4,1]; expected [4,entries] or [2,4,entries]");
  refused(compressed_beside(real_tensor("extra_indices", {4, 1}, {0, 0, 0, 0})),
          ": 'extra_indices' has dtype F32; expected I32 or I64");
  refused(compressed_beside(whole_tensor("extra_indices", {4, 1}, {0, 1, 2, 0})),
          ", 'extra_indices': row 2 lists the entry 2; expected -1 to 1");
  refused(compressed_beside(whole_tensor("extra_indices", {4, 1}, {0, 1, 0, -2})),
          ", 'extra_indices': row 3 lists the entry -2; expected -1 to 1");
}
