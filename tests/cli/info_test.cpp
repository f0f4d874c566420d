// What `fovea info` says of the tensors of a file.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "cli/program.h"
#include "io/safetensors_writer.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Shape = std::vector<Index>;
using Shapes = std::map<std::string, Shape>;

/// `all`: of each tensor [heads, rows, columns], by its name in the file.
void check_info(const Shapes& all, const std::map<std::string, std::string>& metadata) {
  std::vector<OutTensor> tensors;
  for (const auto& [name, shape] : all) {
    const auto count = std::size_t(shape[0] * shape[1] * shape[2]);
    const Shape written = shape[2] == 1 ? Shape{shape[0], shape[1]} : shape;
    if (name.ends_with("mask") || name.ends_with("kept"))
      tensors.push_back({name, written, std::vector<std::uint8_t>(count, 1)});
    else
      tensors.push_back({name, written, std::vector<float>(count)});
  }
  const TemporaryDirectory folder;
  const std::string file = folder / "all.safetensors";
  write_safetensors(file, tensors, metadata);
  const auto found = document_of({"info", file, "--json"});
  REQUIRE(found["layers"].size() == 2);
  std::size_t shown = 0;
  for (const auto& layer : found["layers"]) {
    for (const auto& [its_name, tensor] : layer["tensors"].items()) {
      const std::string name = its_name;
      CAPTURE(name);
      const auto expected = all.find(layer["name"].get<std::string>() + "." + name);
      REQUIRE(expected != all.end());
      CHECK(tensor["shape"].get<Shape>() == expected->second);
      ++shown;
    }
    for (const auto& [name, text] : metadata) CHECK(layer["conditions"][name] == text);
  }
  CHECK(shown == all.size());
}

}  // namespace

// No two tensors have one shape unless it follows from what they are.
TEST_CASE("law: info has each tensor of a file under its own name, in its own shape") {
  constexpr Index heads = 4, shared = 2, nq = 6, nk = 9, d = 5, dv = 3;
  const Shapes of_layer{{"q", {heads, nq, d}},
                        {"k", {shared, nk, d}},
                        {"v", {shared, nk, dv}},
                        {"mask", {heads, nq, nk}},
                        {"bias", {1, nq, nk}}},
      of_result{{"z", {heads, nq, dv}},   {"lse", {heads, nq, 1}},  {"p", {heads, nq, nk}},
                {"dz", {heads, nq, dv}},  {"dq", {heads, nq, d}},   {"dk", {shared, nk, d}},
                {"dv", {shared, nk, dv}}, {"kept", {heads, nq, nk}}};
  Shapes all;
  for (const char* layer : {"layer0.", "layer1."}) {
    for (const auto& [name, shape] : of_layer) all[layer + name] = shape;
    for (const char* result : {"", "flash."})
      for (const auto& [name, shape] : of_result) all[layer + (result + name)] = shape;
  }
  check_info(all, {});
}

TEST_CASE("law: info has the gates of heads that are a recurrence, and which one it is") {
  constexpr Index heads = 4, n = 9, d = 5, dv = 3, levels = 7;
  for (const std::string which : {"delta", "linear"}) {
    CAPTURE(which);
    Shapes all;
    for (const std::string layer : {"layer0.", "layer1."}) {
      all[layer + "q"] = all[layer + "k"] = {heads, n, d};
      all[layer + "v"] = {heads, n, dv};
      all[layer + "beta"] = {heads, n, 1};
      all[layer + "log_decay"] = {heads, n, 1};
      if (which == "linear") all[layer + "level_weights"] = {heads, n, levels};
    }
    check_info(all, {{"recurrence", which}});
  }
}
