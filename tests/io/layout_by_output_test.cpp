// Where a shape may be read in two ways, the output beside q, k and v decides.
#include <doctest/doctest.h>

#include <cmath>
#include <span>

#include "io/tensor_source.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr Index outer = 6, inner = 3, channels = 8;  // 6 heads of 3 tokens, or 3 heads of 6 tokens

std::vector<float> drawn(float from) {
  std::vector<float> values;
  for (Index i = 0; i < outer * inner * channels; ++i)
    values.push_back(2 * std::sin(from + 1.7f * static_cast<float>(i * i % 101)));
  return values;
}

/// Exact attention of tokens that are `token` floats apart, in heads that are `head` floats apart.
std::vector<float> attended(Index heads, Index head, Index tokens, Index token, bool causal) {
  const std::vector<float> q = drawn(1), k = drawn(2), v = drawn(3);
  std::vector<float> z(q.size());
  const auto at = [&](const std::vector<float>& m, Index h, Index i, Index c) {
    return static_cast<double>(m[static_cast<std::size_t>(h * head + i * token + c)]);
  };
  for (Index h = 0; h < heads; ++h)
    for (Index i = 0; i < tokens; ++i) {
      double sum = 0;
      std::vector<double> row(static_cast<std::size_t>(channels));
      for (Index j = 0; j < (causal ? i + 1 : tokens); ++j) {
        double logit = 0;
        for (Index c = 0; c < channels; ++c) logit += at(q, h, i, c) * at(k, h, j, c);
        const double weight = std::exp(logit / std::sqrt(static_cast<double>(channels)));
        sum += weight;
        for (Index c = 0; c < channels; ++c)
          row[static_cast<std::size_t>(c)] += weight * at(v, h, j, c);
      }
      for (Index c = 0; c < channels; ++c)
        z[static_cast<std::size_t>(h * head + i * token + c)] =
            static_cast<float>(row[static_cast<std::size_t>(c)] / sum);
    }
  return z;
}

Source source_with_output(std::vector<float> z) {
  std::vector<NamedTensor> tensors;
  const auto add = [&](const char* name, std::vector<float> values) {
    auto owned = std::make_shared<std::vector<float>>(std::move(values));
    const std::vector<Index> shape{1, outer, inner, channels};
    tensors.push_back({.name = name,
                       .dtype = "F32",
                       .type = ElementType::f32,
                       .shape = shape,
                       .strides = packed_strides(shape, 4),
                       .bytes = bytes_in_memory(std::as_bytes(std::span(*owned)), owned)});
  };
  add("q", drawn(1));
  add("k", drawn(2));
  add("v", drawn(3));
  add("z", std::move(z));
  return source_from_tensors({"x.safetensors", "safetensors", std::move(tensors), {}, {}}, {});
}

}  // namespace

TEST_CASE("hyper-attn#2: the layout whose exact attention gives z is taken") {
  for (const bool causal : {false, true}) {
    CAPTURE(causal);
    const Source tokens_first =
        source_with_output(attended(inner, channels, outer, inner * channels, causal));
    CHECK_FALSE(tokens_first.layout_guessed);
    CHECK(tokens_first.layout == "[B,n,H,d]");
    CHECK(tokens_first.layers[0].heads() == inner);
    CHECK(tokens_first.layers[0].queries() == outer);
    REQUIRE(tokens_first.notes.size() == 1);
    check_says(tokens_first.notes[0], {"(3 heads of 6 tokens)", "gives the z of the file"});
    REQUIRE(tokens_first.layers[0].imported.size() == 1);
    CHECK(tokens_first.layers[0].imported[0].z.rows == outer);

    const Source heads_first =
        source_with_output(attended(outer, inner * channels, inner, channels, causal));
    CHECK_FALSE(heads_first.layout_guessed);
    CHECK(heads_first.layers[0].heads() == outer);
  }
}

TEST_CASE("an output that neither layout gives leaves the layout a guess") {
  const Source source = source_with_output(drawn(9));
  CHECK(source.layout_guessed);
  CHECK(source.layers[0].heads() == outer);
}
