// Heads of which only queries and keys are known.
#include <doctest/doctest.h>

#include "harness.h"
#include "io/bytes.h"
#include "io/tensor_source.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

NamedTensor numbers(const std::string& name, const std::vector<Index>& shape) {
  std::size_t count = 1;
  for (const Index size : shape) count *= static_cast<std::size_t>(size);
  auto values = std::make_shared<std::vector<float>>(count, 0.5f);
  return {.name = name,
          .dtype = "F32",
          .type = ElementType::f32,
          .shape = shape,
          .strides = packed_strides(shape, 4),
          .bytes = bytes_in_memory(std::as_bytes(std::span(*values)), values)};
}

Source source_of(std::vector<NamedTensor> tensors) {
  return source_from_tensors({"dir/x.npz", "npz", std::move(tensors), {}, {}});
}

}  // namespace

TEST_CASE("without values: q and k are a head whose source says what is not known") {
  const Source source = source_of({numbers("q", {4, 8, 3}), numbers("k", {2, 10, 3})});
  REQUIRE(source.layers.size() == 1);
  CHECK(source.layers[0].has_qk());
  CHECK_FALSE(source.layers[0].has_values());
  CHECK(source.layers[0].dv() == 0);
  REQUIRE(source.notes.size() == 1);
  CHECK(source.notes[0].starts_with("There are no values v: weights are shown, outputs are not"));
  const Problem problem = problem_of(source, {.head = 3});
  CHECK_FALSE(problem.has_values());
  CHECK(problem.v.rows == 10);
  CHECK(problem.v.cols == 0);
  const Output out = make_instance(*backends().front(), problem, "exact", {}).apply(problem.v);
  CHECK(out.z.rows() == 8);
  CHECK(out.z.cols() == 0);
  CHECK(out.lse.size() == 8);
}

TEST_CASE("without values: the layers that lack them are named beside others") {
  const std::vector<Index> shape{2, 8, 3};
  const Source source =
      source_of({numbers("layer0.q", shape), numbers("layer0.k", shape), numbers("layer0.v", shape),
                 numbers("layer1.q", shape), numbers("layer1.k", shape)});
  REQUIRE(source.layers.size() == 2);
  REQUIRE(source.notes.size() == 1);
  CHECK(source.notes[0].starts_with("There are no values v in layer1: "));
  CHECK(problem_of(source, {.layer = 0}).has_values());
  CHECK_FALSE(problem_of(source, {.layer = 1}).has_values());
}

TEST_CASE("without values: weights of another program are compared, its output is not") {
  const std::vector<Index> shape{2, 8, 3};
  const Source source = source_of({numbers("q", shape), numbers("k", shape), numbers("z", shape),
                                   numbers("attention", {2, 8, 8})});
  REQUIRE(source.layers[0].imported.size() == 1);
  CHECK_FALSE(source.layers[0].imported[0].z.present());
  CHECK(source.layers[0].imported[0].p.present());
  const Problem problem = problem_of(source, {});
  const Instance theirs = make_instance(*backends().front(), problem, "imported", {});
  CHECK(theirs.all()(3, 4) == 0.5f);
  const Output out = theirs.apply(problem.v);
  CHECK(out.z.rows() == 8);
  CHECK(out.z.cols() == 0);
  const Source alone = source_of({numbers("q", shape), numbers("k", shape), numbers("z", shape)});
  CHECK(alone.layers[0].imported.empty());
}

TEST_CASE("weights of another program without its output are applied to the values") {
  const std::vector<Index> shape{2, 8, 3};
  const Source source = source_of({numbers("q", shape), numbers("k", shape), numbers("v", shape),
                                   numbers("attention", {2, 8, 8})});
  const Problem problem = problem_of(source, {});
  const Output out = make_instance(*backends().front(), problem, "imported", {}).apply(problem.v);
  CHECK(out.z(0, 0) == 2.0f);  // 8 keys, 0.5 x 0.5 each
}

TEST_CASE("without values: q, k or v alone is still no head") {
  for (const char* name : {"q", "k", "v"})
    CHECK_SAYS(source_of({numbers(name, {8, 3})}), std::string("'") + name + "' without",
               "expected q and k, and v for outputs");
  CHECK_SAYS(source_of({numbers("q", {8, 3}), numbers("v", {8, 3})}), "'q', 'v' without k");
}
