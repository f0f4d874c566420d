// Commands on heads of which only queries and keys are known.
#include <doctest/doctest.h>

#include <fstream>

#include "cli/program.h"
#include "data/source.h"
#include "data/synthetic.h"
#include "io/safetensors_writer.h"
#include "io/tensor_file.h"
#include "messages.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using nlohmann::json;

constexpr const char* no_values_note = "There are no values v: weights are shown, outputs are not";

/// Two heads of 96 tokens, with their values or without.
std::string file_of_heads(const TemporaryDirectory& folder, bool values) {
  const Source source = make_synthetic("synthetic:clusters?n=96&d=16&heads=2");
  const Layer& layer = source.layers[0];
  std::vector<OutTensor> tensors;
  for (const auto& [name, tensor] :
       {std::pair{"q", &layer.q}, std::pair{"k", &layer.k}, std::pair{"v", &layer.v}}) {
    if (*name == 'v' && !values) continue;
    std::vector<float> numbers;
    for (Index h = 0; h < tensor->heads; ++h) {
      const Matrix rows = tensor->read(h);
      numbers.insert(numbers.end(), rows.data(), rows.data() + rows.rows() * rows.cols());
    }
    tensors.push_back({name, {tensor->heads, tensor->rows, tensor->cols}, std::move(numbers)});
  }
  const std::string path = folder / (values ? "qkv.safetensors" : "qk.safetensors");
  write_safetensors(path, tensors, {});
  return path;
}

/// A null or an empty text is not a number.
void check_no_odd_number(const std::string& text) {
  for (const char* odd : {"nan", "NaN", "-nan"}) {
    CAPTURE(text);
    CHECK_FALSE(contains(text, odd));
  }
}

}  // namespace

TEST_CASE("without values: info, compute and render say it, and tell what is known") {
  const TemporaryDirectory folder;
  const std::string file = file_of_heads(folder, false), whole = file_of_heads(folder, true);
  const json info = document_of({"info", file, "--json"});
  CHECK(info["layers"][0]["dv"] == 0);
  CHECK_FALSE(info["layers"][0]["tensors"].contains("v"));
  CHECK(contains(info["notes"][0].get<std::string>(), no_values_note));
  check_says(run_program({"info", file}).out, {no_values_note});

  const std::vector<std::string> options{"--variant", "h1d", "--set", "block=8", "--json"};
  const auto computed = [&](const std::string& of) {
    std::vector<std::string> words{"compute", of};
    words.insert(words.end(), options.begin(), options.end());
    return document_of(words);
  };
  const json bare = computed(file), its = computed(whole);
  CHECK(contains(bare["notes"].dump(), no_values_note));
  for (std::size_t h = 0; h < 2; ++h) {
    const json &found = bare["metrics"][h], &known = its["metrics"][h];
    for (const char* id : {"output_rel_fro", "output_max_abs"}) {
      CHECK(found[id].is_null());
      CHECK(known[id].is_number());
    }
    for (const char* id : {"p50", "p90", "max"}) CHECK(found["row_rel_error"][id].is_null());
    CHECK(found["attention_rel_fro"].get<double>() ==
          doctest::Approx(known["attention_rel_fro"].get<double>()).epsilon(1e-4));
    CHECK(found["mass_kept"].get<double>() ==
          doctest::Approx(known["mass_kept"].get<double>()).epsilon(1e-4));
  }
  const Ended table = run_program({"compute", file, "--variant", "h1d", "--set", "block=8"});
  check_says(table.out, {"no values", "relative attention error", "beside Q, K"});
  CHECK_FALSE(contains(table.out, "output error"));
  check_no_odd_number(table.out);

  const std::string figure = folder / "p.svg";
  const Ended drawn = run_program(
      {"render", file, "--variant", "h1d", "--view", "heatmap", "--view", "output", "-o", figure});
  CHECK(drawn.status == 0);
  std::ifstream svg(figure);
  const std::string text(std::istreambuf_iterator<char>(svg), {});
  CHECK(contains(text, "relative attention error"));
  CHECK(contains(text, "the file has no values v"));
  check_no_odd_number(text);
}

TEST_CASE("without values: what is written has the row sums, and no output") {
  const TemporaryDirectory folder;
  const std::string out = folder / "out.safetensors";
  CHECK(run_program(
            {"compute", file_of_heads(folder, false), "--variant", "exact", "--dense", "-o", out})
            .status == 0);
  std::vector<std::string> names;
  for (const NamedTensor& tensor : read_safetensors(out).tensors) names.push_back(tensor.name);
  CHECK(std::ranges::find(names, "lse") != names.end());
  CHECK(std::ranges::find(names, "p") != names.end());
  CHECK(std::ranges::find(names, "z") == names.end());
}

TEST_CASE("without values: what needs them is refused in a sentence") {
  const TemporaryDirectory folder;
  const std::string file = file_of_heads(folder, false);
  const auto refused = [&](std::vector<std::string> words) {
    words.insert(words.begin() + 1, file);
    const Ended ended = run_program(words);
    CAPTURE(ended.out);
    CHECK(ended.status != 0);
    CHECK(contains(ended.err, "the file has no values v"));
    return ended.err;
  };
  refused({"fit", "--variant", "tf", "-o", folder / "tree.safetensors"});
  check_says(refused({"heads"}), {"output errors are not known", "--y attention_tv"});
  check_says(refused({"pareto"}), {"--y attention_tv"});
  check_says(refused({"compute", "--variant", "kde", "--set", "block=8"}),
             {"KDEformer samples keys by the norms of their values"});
  check_says(refused({"compute", "--variant", "hyper", "--set", "block=8", "--set", "min_length=1",
                      "--set", "mode=theory"}),
             {"mode is 'theory'", "expected mode = practical"});
}

TEST_CASE("without values: spans, pareto, reports and sweeps go on with the weights") {
  const TemporaryDirectory folder;
  const std::string file = file_of_heads(folder, false);
  const json spans = document_of({"spans", file, "--span", "a=0:40", "--json"});
  CHECK(spans["variants"].size() == 7);
  const json pareto = document_of(
      {"pareto", file, "--y", "attention_tv", "--variant", "h1d", "--variant", "hyper", "--json"});
  CHECK(pareto["settings"].size() > 2);
  for (const json& setting : pareto["settings"]) CHECK(setting["y"].is_object());
  for (const json& trial : pareto["trials"])
    CHECK_FALSE(trial["measures"].contains("output_rel_fro"));

  const std::string report = folder / "report.html";
  CHECK(run_program({"report", file, "--variant", "exact", "--variant", "h1d", "-o", report})
            .status == 0);
  std::ifstream html(report);
  const std::string text(std::istreambuf_iterator<char>(html), {});
  check_says(text, {no_values_note, "no values", "total variation, mean"});
  CHECK_FALSE(contains(text, "output error"));

  folder.write("plan.json", json{{"sources", {file}},
                                 {"layers", {0}},
                                 {"heads", {0}},
                                 {"variants", {"exact", "h1d"}},
                                 {"rounds", 0}}
                                .dump());
  const std::string results = folder / "results";
  CHECK(run_program({"sweep", folder / "plan.json", "-o", results}).status == 0);
  std::ifstream lines(results + "/results.jsonl");
  int rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    const json row = json::parse(line);
    CAPTURE(line);
    CHECK(row["error"].is_null());
    CHECK_FALSE(row.contains("output_rel_fro"));
    CHECK(row["attention_tv"].is_number());
  }
  CHECK(rows == 2);
}
