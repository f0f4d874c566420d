// Files of fitted trees: what is written is read back, and what is damaged is refused.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "io/bytes.h"
#include "io/fit_file.h"
#include "io/safetensors.h"
#include "io/structure_file.h"
#include "messages.h"
#include "temporary_directory.h"

using namespace fovea;
using namespace fovea::test;

namespace {

TrainerState state(std::size_t parameters, std::size_t best, float value) {
  return {.step = 7,
          .adam_steps = 5,
          .best_step = 5,
          .height = 1,
          .loss = 0.1,
          .multiplier = 1.0 / 3,
          .gradient_norm = 1.0 / 9,
          .parameters = std::vector<float>(parameters, value),
          .first = std::vector<float>(parameters, value + 1),
          .second = std::vector<float>(parameters, value + 2),
          .best = std::vector<float>(best, value + 3),
          .curve = {{.step = 0,
                     .loss = 0.3,
                     .error = 0.5,
                     .held_out_error = 0.7,
                     .chi = 0.1,
                     .effective_leaves = 3.5},
                    {.step = 5, .loss = 1e-300, .gradient_norm = 2.0 / 3, .error = 1.0 / 7}}};
}

FitFile two_heads() {
  FitFile file{.about = {{"variant", "tf"}, {"height", "'2'"}}, .trees = {}, .states = {}};
  for (int h = 0; h < 2; ++h) {
    Structure tree;
    tree.set({"tree_weight", {3, 2}, std::vector<float>(6, 0.5f)});
    tree.set("tree_bias", std::vector<float>(3, static_cast<float>(h)));
    file.trees.push_back(tree);
  }
  file.states = {state(3, 9, 0.25f), state(9, 9, -2)};  // one that still grows
  return file;
}

}  // namespace

TEST_CASE("a fit is read back as it was written, to the last bit, and holds a structure") {
  const TemporaryDirectory directory;
  const std::string path = directory / "fit.safetensors";
  const FitFile file = two_heads();
  write_fit(path, file);
  const FitFile back = read_fit(path);
  CHECK(back.about == file.about);
  CHECK(back.states == file.states);
  CHECK(read_structure(path, 1, 2) == file.trees[1]);
  CHECK_NOTHROW(check_about(path, back, file.about));
  CHECK_SAYS(check_about(path, back, {{"variant", "tc"}}), path, "variant tf", "expected tc");
  CHECK_SAYS(check_about(path, back, {{"depth", "1"}}), "depth unknown", "expected 1");
}

TEST_CASE("a held-out error that is not defined stays so") {
  const TemporaryDirectory directory;
  FitFile file = two_heads();
  file.states[0].curve[0].held_out_error = std::numeric_limits<double>::quiet_NaN();
  write_fit(directory / "fit.safetensors", file);
  CHECK(std::isnan(read_fit(directory / "fit.safetensors").states[0].curve[0].held_out_error));
}

TEST_CASE("a fit of a version that recorded no gradient norms is read, without them") {
  const TemporaryDirectory directory;
  FitFile file = two_heads();
  write_fit(directory / "fit.safetensors", file);
  std::string bytes = read_bytes(directory / "fit.safetensors");
  const auto replace_all = [&](const std::string& from, std::string to) {
    to.resize(from.size(), ' ');
    int count = 0;
    for (std::size_t at; (at = bytes.find(from)) != std::string::npos; ++count)
      bytes.replace(at, from.size(), to);
    CHECK(count == 2);  // of each head
  };
  replace_all(R"(\"gradient_norm\":0.1111111111111111,)", "");
  replace_all(",0.6666666666666666]", "]");
  replace_all("3.5,null]", "3.5]");
  directory.write("fit.safetensors", bytes);
  for (TrainerState& state : file.states) {
    state.gradient_norm.reset();
    for (CurvePoint& point : state.curve) point.gradient_norm.reset();
  }
  CHECK(read_fit(directory / "fit.safetensors").states == file.states);
}

TEST_CASE("files that fit has not written, or that are damaged, are refused") {
  const TemporaryDirectory directory;
  const std::string path = directory / "fit.safetensors";
  write_fit(path, two_heads());
  const std::string good = read_bytes(path);
  const auto refusal = [&](const std::string& from, const std::string& to) {
    std::string bytes = good;
    const auto at = bytes.find(from);
    REQUIRE(at != std::string::npos);
    REQUIRE(from.size() == to.size());
    bytes.replace(at, from.size(), to);
    directory.write("fit.safetensors", bytes);
    return message_of([&] { read_fit(path); });
  };
  check_says(refusal("\"fit\"", "\"fat\""), {path, "no metadata 'fit'", "fovea fit"});
  check_says(refusal("fit_first", "fit_furst"), {path, "'fit_first' is missing"});
  check_says(refusal("\\\"step\\\":7", "\\\"step\\\":t"), {path, "not JSON"});
  check_says(refusal("\\\"height\\\":", "\\\"heigth\\\":"), {path, "damaged", "height"});
  check_says(refusal("\\\"step\\\":7", "\\\"step\\\":-"), {path});
  // 0.25 becomes NaN.
  const std::string quarter("\0\0\x80\x3e", 4), nan("\0\0\xc0\x7f", 4);
  check_says(refusal(quarter, nan), {path, "fit_parameters", "NaN"});
}

TEST_CASE("whatever is changed in a fit, it is read or refused") {
  const TemporaryDirectory directory;
  const std::string path = directory / "fit.safetensors";
  write_fit(path, two_heads());
  const std::string good = read_bytes(path);
  for (std::size_t at = 0; at < good.size(); at += 3) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x15);
    directory.write("fit.safetensors", bytes);
    try {
      const FitFile file = read_fit(path);
      CHECK(file.states.size() <= 2);
    } catch (const Error& error) {
      CHECK(error.status() == 3);
    }
  }
}
