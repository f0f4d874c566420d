// Each option of a head and its source changes the numbers of each command that takes it.
#include <doctest/doctest.h>

#include "cli/option_words.h"
#include "messages.h"
#include "model_elsewhere.h"
#include "tiny_text_model.h"

using namespace fovea;
using namespace fovea::test;

namespace {

/// Without times, and without what a command only repeats of its options.
nlohmann::json numbers_in(const nlohmann::json& document) {
  static const std::set<std::string> others{
      "timings_ms", "seconds", "source", "notes",      "scale",      "causal",      "conditions",
      "seed",       "head",    "layer",  "parameters", "layer_name", "layer_label", "speed_up"};
  if (!document.is_structured()) return document;
  nlohmann::json numbers = document.is_array() ? nlohmann::json::array() : nlohmann::json::object();
  for (const auto& [key, value] : document.items())
    if (document.is_array())
      numbers.push_back(numbers_in(value));
    else if (!others.contains(key))
      numbers[key] = numbers_in(value);
  return numbers;
}

/// Null: the command refuses its input.
nlohmann::json numbers_of(const Words& words) {
  const Ended ended = run_program(joined(words, {"--json", "--backend", "cpu"}));
  CAPTURE(ended.err);
  CHECK((ended.status == 0 || ended.status == 3));
  return ended.status == 0 ? numbers_in(ended.json()) : nlohmann::json();
}

struct OptionRow {
  Words option, source;  // the source with other options of it
  std::string variant = "strided";
  std::set<std::string> not_in = {};
};

std::vector<OptionRow> option_rows(const Sources& sources, const TinyTextModel& model,
                                   const ModelElsewhere& elsewhere) {
  const std::string drawn = "synthetic:gaussian?n=24&d=8&heads=3";
  const std::string image = FOVEA_ASSETS "/image/retina.jpg";
  return {
      {{"--seed", "3"}, {drawn}, "performer"},
      {{"--layer", "1"}, {sources.layers}},
      {{"--head", "2"}, {drawn}},
      {{"--causal"}, {drawn}},
      {{"--no-causal"}, {sources.layers}},
      {{"--scale", "0.3"}, {drawn}},
      {{"--window", "5"}, {drawn}},
      {{"--softcap", "0.5"}, {drawn}},
      {{"--allow-non-finite"}, {sources.not_finite}},
      {{"--layout", "[n,H,d]"}, {sources.cube}},
      {{"--order", "hilbert"}, {drawn}},
      {{"--tensors", sources.cube, "--one-token-per-line"}, {sources.text}},
      {{"--content"}, {sources.text}},
      {{"--one-token-per-line"}, {sources.text, "--content"}},
      {{"--patch", "32"}, {image, "--content", "--max-side", "128"}},
      {{"--max-side", "64"}, {image, "--content", "--patch", "16"}},
      {{"--bf16"}, {sources.bits.path()}},
      {{"--max-tokens", "4"}, {model.folder(), "--text", "the cat sat on a mat"}},
      {{"--decoder-text", "more"},
       {elsewhere.folder(), "--text", "one two three four", "--python", elsewhere.python()}},
  };
}

}  // namespace

TEST_CASE("law: each option of a head and its source changes the numbers of each command") {
  const Sources sources;
  const TinyTextModel model;
  const ModelElsewhere elsewhere;
  const std::vector<OptionRow> rows = option_rows(sources, model, elsewhere);
  const std::string text = "a b c d e f", file = model.file("words.txt", text);
  const std::pair<std::string, Words> commands[] = {
      {"compute", {"--head", "0"}},
      {"rankmap", {}},
      {"spans", {"--span", "first=0:2"}},
      {"heads", {"--no-learn", "--cost", "0.9", "--head", "0"}},
      {"pareto", {"--no-learn", "--head", "0"}}};
  const std::set<std::string> other_options{
      "-h",           "--help",       "--help-all",
      "-o",           "--output",     "--json",
      "--csv",        "--backend",    "--precision",
      "--threads",    "--memory",     "--variant",
      "--set",        "--settings",   "--structure",
      "--no-metrics", "--dense",      "--of",
      "--leaf",       "--tolerance",  "--relative",
      "--partition",  "--span",       "--sinks",
      "--frames",     "--python",     "--trust-remote-code",
      "--within",     "--cost",       "--x",
      "--y",          "--no-session", "--learn",
      "--no-learn",   "--seeds",      "--measures",
      "--triage",     "--budget",     "--keep",
      "--kept",       "--kept-block", "--mask"};  // of imported alone
  for (const auto& one : commands) {
    const std::string& command = one.first;
    const Words& own = one.second;
    CAPTURE(command);
    std::set<std::string> known;
    for (const OptionRow& row : rows) {
      CAPTURE(row.option.front());
      known.insert(row.option.front());
      Words base = joined(joined({command}, row.source), {"--variant", row.variant});
      const bool heads = row.option.front() == "--head" && !own.empty() && own.back() == "0";
      base = joined(base, heads ? Words(own.begin(), own.end() - 2) : own);
      CHECK((numbers_of(base) != numbers_of(joined(base, row.option))) ==
            !row.not_in.contains(command));
    }
    // A model reads a text or a file: there are no numbers without.
    const auto reading = [&](const Words& what) {
      return numbers_of(
          joined(joined({command, model.folder(), "--variant", "strided"}, what), own));
    };
    CHECK(reading({"--text", text}) != reading({"--text", "f e d c b a"}));
    CHECK(reading({"--text", text}) == reading({"--input", file}));
    known.insert({"--text", "--input"});
    // A new option of a head or a source needs a row.
    for (const std::string& option : options_of(command))
      CHECK_MESSAGE((known.contains(option) || other_options.contains(option)), option);
  }
}

TEST_CASE("law: each option of a head and its source changes what heads measures and triages") {
  const Sources sources;
  const TinyTextModel model;
  const ModelElsewhere elsewhere;
  // Random numbers choose rows of long heads, and begin the search for a rank.
  const struct {
    Words way;
    std::string long_head;
  } ways[] = {{{"--measures"}, "synthetic:gaussian?n=1540&d=2"},
              {{"--triage", "--budget", "0.6"}, "synthetic:gaussian?n=8200&d=2"}};
  for (const auto& one : ways) {
    CAPTURE(one.way.front());
    for (const OptionRow& row : option_rows(sources, model, elsewhere)) {
      CAPTURE(row.option.front());
      const bool seed = row.option.front() == "--seed";
      const Words base =
          joined(joined({"heads"}, seed ? Words{one.long_head} : row.source), one.way);
      const Ended changed =
          run_program(joined(joined(base, row.option), {"--json", "--backend", "cpu"}));
      CAPTURE(changed.err);
      CHECK((changed.status == 0 || changed.status == 3));
      const nlohmann::json found = changed.status == 0 ? changed.json() : nlohmann::json();
      CHECK(numbers_of(base) != numbers_in(found));
      if (seed) CHECK((found.contains("seed") && found["seed"] == 3));
    }
  }
}

TEST_CASE("law: every command and format says that a layer whose heads are read states no mask") {
  const TemporaryDirectory folder;
  Sources drawn;
  std::vector<OutTensor> tensors;
  for (const char* layer : {"layer0.", "layer1."}) drawn.add(tensors, layer, 6);
  const std::string file = folder / "one_states_a_mask.safetensors";
  write_safetensors(file, tensors, {{"layer0.causal", "true"}});
  const std::string figure = folder / "figure.svg", report = folder / "report.html";
  const Words commands[] = {{"compute", "--variant", "h1d"},
                            {"compute", "--variant", "h1d", "--json"},
                            {"spans", "--span", "first=0:2", "--variant", "h1d"},
                            {"spans", "--span", "first=0:2", "--variant", "h1d", "--json"},
                            {"rankmap"},
                            {"rankmap", "--json"},
                            {"rankmap", "--variant", "h1d", "--variant", "exact", "--json"},
                            {"render", "--variant", "h1d", "-o", figure},
                            {"report", "--variant", "h1d", "-o", report},
                            {"pareto", "--variant", "h1d", "--head", "0"},
                            {"pareto", "--variant", "h1d", "--head", "0", "--json"},
                            {"heads", "--variant", "h1d", "--cost", "0.9"},
                            {"heads", "--variant", "h1d", "--cost", "0.9", "--json"},
                            {"heads", "--variant", "h1d", "--cost", "0.9", "--csv"},
                            {"heads", "--measures"},
                            {"heads", "--measures", "--json"},
                            {"heads", "--measures", "--csv"},
                            {"heads", "--triage"},
                            {"heads", "--triage", "--json"},
                            {"heads", "--triage", "--csv"}};
  for (const Words& command : commands)
    for (const std::string layer : {"layer0", "layer1"}) {
      CAPTURE(command);
      CAPTURE(layer);
      Words words = joined(command, {"--layer", layer});
      words.insert(words.begin() + 1, file);
      const Ended ended = run_program(words);
      CAPTURE(ended.err);
      REQUIRE(ended.status == 0);
      std::string said = ended.out + ended.err;
      if (command.front() == "report") said += read_bytes(report);
      CHECK(contains(said, "the file does not state a mask") == (layer == "layer1"));
    }
}

TEST_CASE("options that a model would ignore are refused, and so is --max-tokens without a text") {
  const TinyTextModel model;
  const Words reads{"info", model.folder(), "--text", "the cat"};
  const auto refused = [](const Words& words, const std::string& says) {
    const Ended ended = run_program(words);
    CAPTURE(words);
    CAPTURE(ended.err);
    CHECK(ended.status == 2);
    CHECK(ended.out.empty());
    CHECK(ended.err.find(says) != std::string::npos);
  };
  REQUIRE(run_program(reads).status == 0);
  for (const Words& option : {Words{"--layout", "[n,d]"},
                              {"--one-token-per-line"},
                              {"--patch", "8"},
                              {"--max-side", "9"},
                              {"--bf16"},
                              {"--tensors", model.folder() + "/vocab.txt"}}) {
    refused(joined(reads, option), option.front() + " does not go with a model");
    refused(joined({"info", model.address("the cat")}, option), option.front() + " does not go");
  }
  refused({"info", model.address("the cat"), "--max-tokens", "4"}, "expected max_tokens=N");
  refused({"info", "synthetic:golden", "--max-tokens", "4"}, "--max-tokens goes with a model");
  refused(joined(reads, {"--decoder-text", "the"}), "has no decoder beside an encoder");
  for (const std::string& source : {model.address("the cat"), std::string("synthetic:golden")})
    refused({"info", source, "--decoder-text", "the"},
            "--decoder-text goes with --text or --input");
}

TEST_CASE("what bench names of a model is its text") {
  const TinyTextModel model;
  const Ended ended = run_program({"bench", model.folder(), "--text", "the cat", "--variant", "h1d",
                                   "--repeat", "1", "--backend", "cpu"});
  CHECK(ended.status == 0);
  CHECK(ended.out.find("tiny: “the cat”") != std::string::npos);
}
