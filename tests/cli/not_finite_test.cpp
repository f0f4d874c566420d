// Heads with rows that are not finite, through the whole program: no figure over them is 0, and
// none is printed as NaN.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "cli/program.h"
#include "io/safetensors_writer.h"
#include "io/tensor_file.h"
#include "messages.h"

using namespace fovea::test;

namespace {

using nlohmann::json;

constexpr int tokens = 64, features = 8;

std::vector<float> numbers(float from) {
  std::vector<float> values;
  for (int i = 0; i < tokens * features; ++i) values.push_back(std::sin(from + float(i)));
  return values;
}

std::string file_of(const TemporaryDirectory& directory, const std::vector<float>& q,
                    const std::vector<float>& k, const std::vector<float>& z = {}) {
  std::vector<fovea::OutTensor> tensors;
  const auto add = [&](const char* name, const std::vector<float>& values) {
    if (!values.empty()) tensors.push_back({name, {1, tokens, features}, values});
  };
  add("q", q);
  add("k", k);
  add("v", numbers(3));
  add("z", z);
  const std::string path = directory / "head.safetensors";
  write_safetensors(path, tensors, {});
  return path;
}

/// Numbers in q and k that are refused, or count as NaN.
std::string too_large(const TemporaryDirectory& directory) {
  const std::vector<float> large(tokens * features, 1e30f);
  return file_of(directory, large, large);
}

/// Query 3 holds NaN.
std::string with_a_nan(const TemporaryDirectory& directory) {
  std::vector<float> q = numbers(1);
  q[3 * features + 2] = std::numeric_limits<float>::quiet_NaN();
  return file_of(directory, q, numbers(2));
}

bool prints_nan(const std::string& text) {
  for (const char* word : {" nan", "-nan", ">nan", "\"nan"})
    if (contains(text, word)) return true;
  return false;
}

}  // namespace

TEST_CASE("compute: what is over rows that are not finite is not defined, and a note says why") {
  const TemporaryDirectory directory;
  const std::string path = too_large(directory);
  for (const char* variant : {"h1d", "exact", "hyper", "fixed", "tf"}) {
    CAPTURE(variant);
    const Ended text = run_program({"compute", path, "--variant", variant, "--allow-non-finite"});
    CAPTURE(text.out);
    REQUIRE(text.status == 0);
    CHECK_FALSE(prints_nan(text.out));
    CHECK(contains(text.out,
                   "NaN or Inf in 64 output rows of Exact: the input holds them, or numbers beyond "
                   "1e14, in q, k"));
    const json metrics = document_of(
        {"compute", path, "--variant", variant, "--json", "--allow-non-finite"})["metrics"][0];
    for (const char* id : {"output_rel_fro", "output_max_abs", "attention_rel_fro", "mass_kept",
                           "top1_recall", "top8_recall", "top64_recall"})
      CHECK_MESSAGE(metrics[id].is_null(), std::string(id));
    for (const char* id : {"row_rel_error", "attention_tv"}) {
      CHECK(metrics[id]["p90"].is_null());
      CHECK(metrics[id]["max"].is_null());
    }
    CHECK(metrics["attention_kl"]["mean"].is_null());
    CHECK(metrics["attention_reverse_kl"]["mean"].is_null());
  }
}

TEST_CASE("a head with numbers that are too large is refused by position") {
  const TemporaryDirectory directory;
  const std::string path = too_large(directory);
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"compute", path, "--variant", "exact"},
        {"rankmap", path},
        {"spans", path, "--span", "a=0:9"},
        {"report", path, "-o", directory / "r.html"},
        {"render", path, "-o", directory / "p.svg"}}) {
    const Ended ended = run_program(command);
    CAPTURE(ended.err);
    CHECK(ended.status == 3);
    check_says(ended.err,
               {path, "q of query head 0, position [0,0] is 1e+30", "magnitude up to 1e+14"});
  }
}

TEST_CASE(
    "compute --dense writes NaN for the weights of a query that is none, but for masked keys") {
  const TemporaryDirectory directory;
  const std::string out = directory / "out.safetensors";
  REQUIRE(run_program({"compute", with_a_nan(directory), "--variant", "exact", "--dense",
                       "--causal", "--no-metrics", "--allow-non-finite", "-o", out})
              .status == 0);
  const fovea::TensorFile file = fovea::read_safetensors(out);
  const auto p = std::ranges::find(file.tensors, "p", &fovea::NamedTensor::name);
  REQUIRE(p != file.tensors.end());
  std::vector<float> weights(tokens * tokens);
  p->bytes->read(p->begin, std::as_writable_bytes(std::span(weights)));
  for (int i = 0; i < tokens; ++i)
    for (int j = 0; j < tokens; ++j) {
      CAPTURE(i);
      CAPTURE(j);
      const float weight = weights[std::size_t(i * tokens + j)];
      CHECK(std::isnan(weight) == (i == 3 && j <= i));
      if (j > i) CHECK(weight == 0);
    }
}

TEST_CASE("compute: an input that holds NaN is named as the cause, not the range of fp32") {
  const TemporaryDirectory directory;
  const Ended ended =
      run_program({"compute", with_a_nan(directory), "--variant", "exact", "--allow-non-finite"});
  CHECK(ended.status == 0);
  check_says(
      ended.out,
      {"NaN or Inf in 1 output row of Exact: the input holds them, or numbers beyond 1e14, in q"});
  CHECK_FALSE(contains(ended.out, "exceeds the range"));
  CHECK_FALSE(prints_nan(ended.out));
}

TEST_CASE("compute: NaN in the output that a file holds is neither a difference nor hidden") {
  const TemporaryDirectory directory;
  std::vector<float> z = numbers(4);
  z[4 * features + 1] = std::numeric_limits<float>::quiet_NaN();
  const std::string path = file_of(directory, numbers(1), numbers(2), z);
  const Ended exact = run_program({"compute", path, "--variant", "exact"});
  check_says(exact.out, {"its own output, or this one, is not finite: not compared"});
  const json document = document_of({"compute", path, "--variant", "exact", "--json"});
  CHECK(document["metrics"][0]["from_own_output"].is_null());
  const Ended imported = run_program({"compute", path, "--variant", "imported"});
  check_says(imported.out, {"1 output row of Imported: the result in the file holds them"});
  CHECK_FALSE(prints_nan(imported.out));
}

TEST_CASE("render and report: the rows that are not finite are named, and no error is 0") {
  const TemporaryDirectory directory;
  const std::string note =
      "NaN or Inf in 64 output rows of Exact: the input holds them, or numbers beyond 1e14, in q, "
      "k";
  const std::string path = too_large(directory), data = directory / "numbers.json";
  const Ended render = run_program({"render", path, "--variant", "exact", "--variant", "h1d",
                                    "--view", "error", "--view", "output", "--allow-non-finite",
                                    "-o", directory / "p.svg", "--data", data});
  REQUIRE(render.status == 0);
  CHECK(contains(render.err, note));
  const std::string written = read_bytes(data), drawn = read_bytes(directory / "p.svg");
  CHECK(contains(written, note));
  for (const std::string& text : {written, drawn}) {
    CHECK_FALSE(contains(text, "is 0 for every token"));
    CHECK_FALSE(contains(text, "zero by definition"));
    CHECK_FALSE(prints_nan(text));
  }
  const Ended report = run_program(
      {"report", path, "--variant", "h1d", "--allow-non-finite", "-o", directory / "r.html"});
  REQUIRE(report.status == 0);
  CHECK(contains(report.err, note));
  const std::string html = read_bytes(directory / "r.html");
  CHECK(contains(html, note));
  CHECK_FALSE(prints_nan(html));
}

TEST_CASE("sweep: a head with numbers that are too large is a row with an error, without numbers") {
  const TemporaryDirectory directory;
  const json plan{{"sources", {too_large(directory)}}, {"variants", {"exact", "h1d"}}};
  const std::string results = directory / "r";
  const Ended ended = run_program({"sweep", directory.write("p.json", plan.dump()), "-o", results});
  CAPTURE(ended.err);
  REQUIRE(ended.status == 5);
  const std::string rows = read_bytes(results + "/results.jsonl");
  std::size_t count = 0;
  for (std::size_t begin = 0; begin < rows.size(); begin = rows.find('\n', begin) + 1, ++count) {
    const json row = json::parse(rows.substr(begin, rows.find('\n', begin) - begin));
    for (const char* id : {"output_rel_fro", "attention_tv", "attention_kl", "top1_recall"})
      CHECK_FALSE_MESSAGE(row.contains(id), std::string(id));
    CHECK(contains(row["error"], "magnitude up to 1e+14"));
  }
  CHECK(count == 2);
  CHECK_FALSE(contains(read_bytes(results + "/results.csv"), "nan"));
}

TEST_CASE("NaN is no number for an option, nor a length") {
  using Refused = std::pair<const char*, const char*>;
  for (const Refused& refused : {Refused{"--font-size", "a number from 3 to 96"},
                                 {"--softcap", "a number from 0 to"},
                                 {"--scale", "a finite number above 0"},
                                 {"--width", "a length from 0.25in"},
                                 {"--height", "a length from 0.25in"},
                                 {"--dpi", "--dpi"}})
    for (const char* nan : {"nan", "NaN", "inf"}) {
      const char* const option = refused.first;  // clang 14 cannot capture a structured binding
      const Ended ended =
          run_program({"render", "synthetic:golden", "-o", "picture.png", option, nan});
      CAPTURE(option);
      CAPTURE(nan);
      CHECK(ended.status == 2);
      check_says(ended.err, {option, refused.second});
    }
}
