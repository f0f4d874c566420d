// Results of other programs beside q, k and v: found by their names, and refused where they do not
// fit.
#include <doctest/doctest.h>

#include <span>

#include "io/tensor_source.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

NamedTensor counted(const std::string& name, std::vector<Index> shape, float first = 0) {
  Index size = 1;
  for (const Index extent : shape) size *= extent;
  auto kept = std::make_shared<std::vector<float>>();
  for (Index i = 0; i < size; ++i) kept->push_back(first + static_cast<float>(i));
  return {.name = name,
          .dtype = "F32",
          .type = ElementType::f32,
          .shape = shape,
          .strides = packed_strides(shape, 4),
          .bytes = bytes_in_memory(std::as_bytes(std::span(*kept)), kept)};
}

/// Two heads of six tokens, d = dv = 3, in a layer, with more.
Source source_with_results(std::vector<NamedTensor> more, const std::string& prefix = "layer3.") {
  std::vector<NamedTensor> tensors;
  for (const char* name : {"q", "k", "v"}) tensors.push_back(counted(prefix + name, {2, 6, 3}));
  tensors.insert(tensors.end(), more.begin(), more.end());
  return source_from_tensors({"x.safetensors", "safetensors", std::move(tensors), {}, {}}, {});
}

std::string names_of(const Layer& layer) {
  std::string text;
  for (const ImportedTensors& result : layer.imported)
    text += (text.empty() ? "" : "|") + result.name + ":" + (result.z.present() ? "z" : "") +
            (result.lse.present() ? "l" : "") + (result.p.present() ? "p" : "") +
            (result.kept.present() ? "k" + std::to_string(result.kept.block.keys) : "");
  return text;
}

}  // namespace

TEST_CASE("results are found by their names, with a prefix and without") {
  CHECK(names_of(source_with_results({}).layers[0]).empty());
  CHECK(names_of(source_with_results({counted("layer3.z", {2, 6, 3})}).layers[0]) == ":z");
  CHECK(names_of(source_with_results({counted("layer3.attn_output", {2, 6, 3})}).layers[0]) ==
        ":z");
  CHECK(names_of(source_with_results({counted("z", {2, 6, 3})}, "").layers[0]) == ":z");
  CHECK(names_of(source_with_results({counted("flash.z", {2, 6, 3})}, "").layers[0]) == "flash:z");
  CHECK(names_of(source_with_results(
                     {counted("layer3.flash.z", {2, 6, 3}), counted("layer3.flash.lse", {2, 6}),
                      counted("layer3.mine.p", {2, 6, 6}), counted("layer3.mine.kept", {6, 6}),
                      counted("layer3.z", {2, 6, 3})})
                     .layers[0]) == ":z|flash:zl|mine:pk1");
  // Neither z, p nor kept pairs, no name, or two names: no result.
  CHECK(names_of(source_with_results(
                     {counted("layer3.flash.lse", {2, 6}), counted("layer3.a.b.z", {2, 6, 3}),
                      counted("layer3..z", {2, 6, 3}), counted("flash.z", {2, 6, 3})})
                     .layers[0]) == "");
  CHECK(names_of(source_with_results({counted("layer3.attention", {2, 6, 6})}).layers[0]) == ":p");
}

TEST_CASE("runs of one input are results, and the first is z where z is not given") {
  const auto runs_of = [](std::vector<NamedTensor> more) {
    const Source source = source_with_results(std::move(more));
    REQUIRE(source.layers[0].imported.size() == 1);
    return source.layers[0].imported[0];
  };
  const ImportedTensors beside =
      runs_of({counted("layer3.z", {2, 6, 3}), counted("layer3.z_runs", {4, 2, 6, 3}, 100)});
  REQUIRE(beside.z_runs.size() == 4);
  CHECK(beside.z.read(1)(0, 0) == 18);  // 6 x 3 numbers of a head
  CHECK(beside.z_runs[3].read(1)(5, 2) == 100 + 4 * 36 - 1);
  const ImportedTensors alone = runs_of({counted("layer3.flash.z_runs", {3, 2, 6, 3})});
  CHECK(alone.name == "flash");
  REQUIRE(alone.z_runs.size() == 2);
  CHECK(alone.z.read(0)(0, 0) == 0);
  CHECK(alone.z_runs[0].read(0)(0, 0) == 36);
  const ImportedTensors tokens_first = runs_of({counted("layer3.z_runs", {2, 6, 2, 3})});
  CHECK(tokens_first.z_runs[0].read(1)(0, 0) == 36 + 3);
  // A batch with as many members as heads: its axis comes before that of the runs.
  std::vector<NamedTensor> batch{counted("z_runs", {2, 3, 2, 6, 3})};
  for (const char* name : {"q", "k", "v"}) batch.push_back(counted(name, {2, 2, 6, 3}));
  const Source of_batch =
      source_from_tensors({"x.safetensors", "safetensors", std::move(batch), {}, {}}, {});
  REQUIRE(of_batch.layers.size() == 2);
  const ImportedTensors& second = of_batch.layers[1].imported.at(0);
  REQUIRE(second.z_runs.size() == 2);
  CHECK(second.z.read(0)(0, 0) == 3 * 2 * 6 * 3);
  CHECK(second.z_runs[1].read(1)(5, 2) == 2 * 3 * 2 * 6 * 3 - 1);
  for (const std::vector<Index>& shape :
       {std::vector<Index>{3, 2, 6, 4}, {3, 2, 5, 3}, {2, 6, 3}, {1025, 2, 6, 3}})
    CHECK_THROWS_WITH_AS(source_with_results({counted("layer3.z_runs", shape)}),
                         doctest::Contains("expected [runs, 2, 6, 3], at most 1024 runs"),
                         InputError);
}

TEST_CASE("gradients are found by their names, and dz is common to all results of a layer") {
  const auto text_of = [](const Source& source) {
    std::string text;
    for (const ImportedTensors& result : source.layers[0].imported) {
      const GradientTensors& its = result.gradients;
      text += (text.empty() ? "" : "|") + result.name + ":" + (its.dz.present() ? "o" : "") +
              (its.dq.present() ? "q" : "") + (its.dk.present() ? "k" : "") +
              (its.dv.present() ? "v" + std::to_string(its.dv.heads) : "");
    }
    return text;
  };
  const NamedTensor dz = counted("layer3.do", {2, 6, 3});
  CHECK(text_of(source_with_results(
            {dz, counted("layer3.dq", {2, 6, 3}), counted("layer3.dv", {2, 6, 3})})) == ":oqv2");
  CHECK(text_of(source_with_results(
            {dz, counted("layer3.mine.dk", {2, 6, 3}), counted("layer3.other.dq", {2, 6, 3})})) ==
        "mine:ok|other:oq");
  CHECK(text_of(source_with_results({counted("layer3.mine.dz", {2, 6, 3}),
                                     counted("layer3.mine.dk", {2, 6, 3})})) == "mine:ok");
  // Without dz there is nothing to compare.
  CHECK(text_of(source_with_results({dz})).empty());
  CHECK(text_of(source_with_results({counted("layer3.dq", {2, 6, 3})})).empty());
  CHECK(contains(message_of([&] {
                   source_with_results({dz, counted("layer3.dq", {2, 5, 3})});
                 }),
                 "layer3.dq"));
}

TEST_CASE("tensors of TransformerLens have their heads after their tokens, and rotated ones win") {
  std::vector<NamedTensor> tensors;
  const auto add = [&](const std::string& name, float first) {
    tensors.push_back(counted("blocks.0.attn." + name, {1, 6, 2, 3}, first));
  };
  add("hook_q", 0);
  add("hook_k", 0);
  add("hook_rot_k", 200);
  add("hook_v", 300);
  add("hook_rot_q", 100);
  add("hook_z", 400);
  tensors.push_back(counted("blocks.0.attn.hook_pattern", {1, 2, 6, 6}));
  const Source source =
      source_from_tensors({"x.safetensors", "safetensors", std::move(tensors), {}, {}}, {});
  REQUIRE(source.layers.size() == 1);
  const Layer& layer = source.layers[0];
  CHECK(layer.name == "blocks.0.attn");
  CHECK(layer.heads() == 2);
  CHECK(layer.lengths() == Lengths{6, 6});
  CHECK_FALSE(source.layout_guessed);
  // Token 2 of head 1: 2 x 6 + 3.
  CHECK(layer.q.read(1)(2, 0) == 115);
  CHECK(layer.k.read(1)(2, 0) == 215);
  CHECK(layer.v.read(1)(2, 0) == 315);
  REQUIRE(names_of(layer) == ":zp");
  CHECK(layer.imported[0].z.read(1)(2, 0) == 415);
}

TEST_CASE("rotated tensors win over plain ones in whatever order the file has them") {
  for (const bool rotated_first : {false, true}) {
    CAPTURE(rotated_first);
    std::vector<NamedTensor> tensors;
    for (const bool rotated : {rotated_first, !rotated_first})
      for (const char* name : {"q", "k"})
        tensors.push_back(
            counted(std::string("blocks.0.attn.hook_") + (rotated ? "rot_" : "") + name,
                    {1, 6, 2, 3}, rotated ? 100.0f : 0.0f));
    tensors.push_back(counted("blocks.0.attn.hook_v", {1, 6, 2, 3}, 300));
    const Source source =
        source_from_tensors({"x.safetensors", "safetensors", std::move(tensors), {}, {}}, {});
    REQUIRE(source.layers.size() == 1);
    CHECK(source.layers[0].q.read(0)(0, 0) == 100);
    CHECK(source.layers[0].k.read(0)(0, 0) == 100);
    CHECK(source.layers[0].v.read(0)(0, 0) == 300);
  }
}

TEST_CASE("a layer beside another one is no result of it") {
  std::vector<NamedTensor> more;
  for (const char* name : {"q", "k", "v", "z"})
    more.push_back(counted(std::string("layer3.step1.") + name, {2, 6, 3}));
  const Source source = source_with_results(more);
  REQUIRE(source.layers.size() == 2);
  CHECK(names_of(source.layers[0]).empty());
  CHECK(names_of(source.layers[1]) == ":z");
}

TEST_CASE("the numbers of a result are those of its head") {
  const Source source =
      source_with_results({counted("layer3.z", {2, 6, 3}, 100), counted("layer3.lse", {2, 6}, 50)});
  const Problem head = problem_of(source, {.head = 1});
  REQUIRE(head.imported);
  const ImportedResult result = read_imported(head.imported->named(""), head.imported->head);
  CHECK(result.z(0, 0) == 118);
  CHECK(result.z(5, 2) == 135);
  CHECK(result.lse == std::vector<float>{56, 57, 58, 59, 60, 61});
}

TEST_CASE("results that do not fit their head are refused with both shapes") {
  CHECK_SAYS(source_with_results({counted("layer3.z", {2, 5, 3})}), "x.safetensors", "layer3.z",
             "[2,5,3]", "expected [2,6,3]");
  CHECK_SAYS(source_with_results({counted("layer3.f.p", {2, 6, 5})}), "layer3.f.p",
             "expected [2,6,6]");
  CHECK_SAYS(source_with_results({counted("layer3.z", {2, 6, 3}), counted("layer3.lse", {6, 2})}),
             "layer3.lse", "expected [2,6]");
}

TEST_CASE("results of a type that cannot be read are refused, whatever the order of their axes") {
  for (const char* name : {"layer3.z", "layer3.hook_z"})
    CHECK_SAYS(source_with_results({{.name = name, .dtype = "F8_E4M3", .shape = {1, 6, 2, 3}}}),
               name, "F8_E4M3");
}
