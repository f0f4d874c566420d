// Error against cost, and the best setting of each head, as the program reports them.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "cli/option_words.h"
#include "cli/program.h"
#include "io/safetensors_writer.h"
#include "messages.h"
#include "session/settings.h"
#include "tiny_text_model.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using nlohmann::json;

/// The oracle is no attention to use.
bool is_bound(const json& of_variant) {
  return fovea::find_variant(of_variant["variant"].get<std::string>()).bound;
}

/// Whether, among settings with numbers, no other is at most as large in both and smaller in one.
bool on_front(const json& settings, const json& one) {
  const auto x = [](const json& s) { return s["x"]["median"].get<double>(); };
  const auto y = [](const json& s) { return s["y"]["median"].get<double>(); };
  if (is_bound(one)) return false;
  return std::none_of(settings.begin(), settings.end(), [&](const json& other) {
    return !is_bound(other) && other["y"].is_object() && other["y"]["median"].is_number() &&
           x(other) <= x(one) && y(other) <= y(one) && (x(other) < x(one) || y(other) < y(one));
  });
}

std::vector<std::string> lines_in(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

TEST_CASE("pareto: all settings of all heads are in the document, and the front is as defined") {
  const json found = document_of({"pareto", bundled, "--settings", "4", "--no-learn", "--json"});
  std::set<std::string> variants, heads;
  std::size_t refused = 0;
  for (const json& trial : found["trials"]) {
    variants.insert(trial["variant"].get<std::string>());
    heads.insert(trial["head"].dump());
    refused += trial.contains("refused");
    if (trial.contains("refused")) continue;
    CHECK(trial["measures"]["output_rel_fro"].is_number());
    CHECK(trial["measures"]["multiply_adds"] > 0);
    if (trial["variant"] == "exact") CHECK(trial["measures"]["ratio_to_exact"] == 1);
  }
  CHECK(variants.size() == fovea::variants().size());  // what is not tried is never the best
  CHECK(heads.size() == 12);
  std::size_t settings = 0;
  for (const fovea::Variant& variant : fovea::variants())
    settings += fovea::settings_worth_trying(variant, 341, 4).size();
  CHECK(found["settings"].size() == settings);
  REQUIRE(found["not_tried"].size() == 1);
  CHECK(found["not_tried"][0].get<std::string>().starts_with("learned trees (--learn"));
  CHECK(found["trials"].size() == 12 * found["settings"].size());
  std::size_t of_causal_heads = 0;
  for (const fovea::Variant& variant : fovea::variants())
    if (!variant.has_bidirectional_form())
      of_causal_heads += fovea::settings_worth_trying(variant, 341, 4).size();
  CHECK(refused < 24 + 12 * of_causal_heads);
  CHECK(found["seconds"]["first"] <= found["seconds"]["all"]);
  std::size_t front = 0;
  for (const json& setting : found["settings"]) {
    CAPTURE(setting.dump());
    front += setting["on_front"].get<bool>();
    if (setting["heads"] == 12) CHECK(setting["on_front"] == on_front(found["settings"], setting));
  }
  CHECK(front >= 2);
}

TEST_CASE("pareto: the same medians by hand, and the same document each time") {
  const std::vector<std::string> arguments{
      "pareto", bundled, "--layer",      "layer2", "--variant", "h1d",   "--settings",
      "2",      "--y",   "attention_tv", "--x",    "bytes",     "--json"};
  json found = document_of(arguments), again = document_of(arguments);
  REQUIRE(found["settings"].size() == 3);
  for (const json& setting : found["settings"]) {
    std::vector<double> xs, ys;
    for (const json& trial : found["trials"])
      if (trial["variant"] == setting["variant"] && trial["parameters"] == setting["parameters"]) {
        xs.push_back(trial["measures"]["bytes"]);
        ys.push_back(trial["measures"]["attention_tv"]);
      }
    REQUIRE(ys.size() == 12);
    std::ranges::sort(xs);
    std::ranges::sort(ys);
    CHECK(setting["x"]["median"].get<double>() == doctest::Approx((xs[5] + xs[6]) / 2));
    CHECK(setting["y"]["median"].get<double>() == doctest::Approx((ys[5] + ys[6]) / 2));
    CHECK(setting["y"]["p10"].get<double>() == doctest::Approx(0.9 * ys[1] + 0.1 * ys[2]));
  }
  found.erase("seconds");
  again.erase("seconds");
  CHECK(found == again);
}

TEST_CASE("pareto: one head as a table by cost, with a mark for the front") {
  const Ended ended = run_program({"pareto", bundled, "--head", "3", "--variant", "strided",
                                   "--settings", "5", "--cost", "0.4"});
  CAPTURE(ended.out);
  REQUIRE(ended.status == 0);
  CHECK(ended.err.empty());
  CHECK(ended.out.starts_with("Strided, "));  // the answer comes first
  check_says(lines_in(ended.out).front(),
             {"relative output error 0.", " % of the cost of exact attention.",
              "costs less than exact attention is within 0.1"});
  check_says(ended.out, {"head 3", "multiply-adds", "relative output error", "stride 32",
                         "Pareto front", "6 trials in"});
  const auto lines = lines_in(ended.out);
  CHECK(std::ranges::count_if(lines, [](const auto& l) { return l.starts_with("  *  "); }) >= 1);
  CHECK(ended.out.find("p10") == std::string::npos);  // of one head
}

TEST_CASE("pareto: the answer and how sure it is are in the document, learned trees included") {
  const json found = document_of({"pareto", bundled, "--layer", "layer4", "--head", "10",
                                  "--variant", "tf", "--variant", "hyper", "--settings", "3",
                                  "--learn", "5", "--cost", "0.3", "--json"});
  const json& answer = found["answer"];
  CHECK(answer["cost_at_most"] == 0.3);
  CHECK(answer["small_error"] == 0.1);
  CHECK(answer["text"].get<std::string>().starts_with("Treeformer TF, "));
  const json *best = nullptr, *next = nullptr;
  std::size_t learned = 0;
  for (const json& setting : found["settings"]) {
    learned += setting["parameters"].value("tree", "") == "learned";
    if (setting["variant"] == "hyper") {
      CHECK(setting["seeds"] == 6);
      CHECK(setting["interval_over"] == "6 seeds");
      CHECK(setting["interval"][0] <= setting["y"]["median"]);
      CHECK(setting["interval"][1] >= setting["y"]["median"]);
    }
    if (setting["parameters"].value("tree", "") == "median") {
      CHECK(setting["interval"].is_null());
      CHECK(setting["interval_over"] == "no interval: one head, and no random choices");
    }
    if (setting["variant"] == "exact" || setting["x"]["median"] > 0.3) continue;
    const json*& least = setting["variant"] == "tf" ? best : next;
    if (!least || setting["y"]["median"] < (*least)["y"]["median"]) least = &setting;
  }
  CHECK(learned > 0);
  REQUIRE(best);
  REQUIRE(next);
  CHECK(answer["best"]["parameters"] == (*best)["parameters"]);
  CHECK(answer["best"]["error"] == (*best)["y"]["median"]);
  CHECK(answer["best"]["cost"] == (*best)["x"]["median"]);
  CHECK(answer["next"]["variant"] == "hyper");
  CHECK(answer["next"]["interval"] == (*next)["interval"]);
  CHECK(answer["cheapest_with_small_error"].is_null());
  CHECK(found["not_tried"].size() == 1);  // other variants, but no learned trees
}

TEST_CASE("pareto: time is measured where it is an axis") {
  const json found = document_of({"pareto", "synthetic:gaussian?n=64&d=8", "--x", "time",
                                  "--variant", "h1d", "--settings", "2", "--json"});
  CHECK(found["x"]["id"] == "total_ms");
  for (const json& trial : found["trials"]) CHECK(trial["timings_ms"]["total"]["median"] > 0);
  for (const json& setting : found["settings"]) CHECK(setting["x"]["median"] > 0);
}

TEST_CASE("pareto: error against a parameter is a curve in table, document and figure") {
  const std::vector<std::string> arguments{"pareto", bundled, "--variant",      "h1d",    "--x",
                                           "block",  "--y",   "output_rel_fro", "--head", "0"};
  auto with = [&](const std::vector<std::string>& more) {
    auto all = arguments;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const json found = document_of(with({"--json"}));
  CHECK(found["x"] == json{{"id", "block"}, {"label", "Block Nᵣ, tokens"}, {"parameter", true}});
  REQUIRE(found["settings"].size() >= 5);
  for (const json& setting : found["settings"]) {
    CHECK(setting["variant"] == "h1d");  // exact attention has no blocks
    CHECK(setting["x"]["median"] == setting["parameters"]["block"]);
    CHECK(setting["on_front"] == false);
    for (const json& trial : found["trials"])
      if (trial["parameters"] == setting["parameters"])
        CHECK(setting["y"]["median"] == trial["measures"]["output_rel_fro"]);
  }
  const Ended table = run_program(arguments);
  check_says(table.out, {"Block Nᵣ, tokens", "relative output error", "block 32"});
  CHECK(table.out.find("Pareto front") == std::string::npos);
  CHECK(table.out.find(" exact  ") == std::string::npos);  // is no row
  double before = 0;
  for (const std::string& line : lines_in(table.out))
    if (const auto at = line.find("  block "); at != std::string::npos) {
      const double block = std::stod(line.substr(at + 8));
      CHECK(block > before);  // the rows are sorted by it
      before = block;
    }
  CHECK(before >= 128);
  const TemporaryDirectory scratch;
  const std::string svg = scratch / "f.svg";
  REQUIRE(run_program(with({"-o", svg})).status == 0);
  check_says(read_bytes(svg), {"H-Transformer-1D", "Block Nᵣ, tokens", "relative output error"});
}

TEST_CASE("pareto: a figure is written, with the variants' names and the front") {
  const TemporaryDirectory scratch;
  const std::string svg = scratch / "f.svg", png = scratch / "f.png";
  for (const std::string& path : {svg, png}) {
    const Ended ended =
        run_program({"pareto", bundled, "--settings", "3", "--no-learn", "-o", path});
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
  }
  check_says(read_bytes(svg), {"H-Transformer-1D", "HyperAttention", "Treeformer TC",
                               "multiply-adds", "medians of 12 heads", "layer0"});
  CHECK(read_bytes(png).starts_with("\x89PNG"));
  CHECK(read_bytes(png).size() > 20000);
}

TEST_CASE("heads: the cheapest setting of each head within an error, as a configuration") {
  const Words tries{bundled,     "--settings", "3",         "--no-learn", "--json",
                    "--variant", "h1d",        "--variant", "hyper",      "--variant",
                    "tc",        "--variant",  "strided",   "--variant",  "longformer"};
  const json tried = document_of(joined({"pareto"}, joined(tries, {"--layer", "all"})));
  const json found = document_of(joined({"heads"}, joined(tries, {"--within", "0.2"})));
  CHECK(found["budget"]["measure"] == "output_rel_fro");
  CHECK(found["budget"]["most"] == 0.2);
  const std::size_t layers = found["heads"].back()["layer"].get<std::size_t>() + 1;
  REQUIRE(found["heads"].size() == 12 * layers);
  bool some = false;
  for (const json& head : found["heads"]) {
    CAPTURE(head.dump());
    CHECK(head["output_rel_fro"] <= 0.2);
    CHECK(head["within_budget"] == true);
    CHECK(head["scale"] > 0);
    CHECK(head["causal"].is_boolean());
    CHECK(head["seed"] == 0);
    some = some || head["variant"] != "exact";
    double least = 1;
    for (const json& trial : tried["trials"])
      if (trial["layer"] == head["layer"] && trial["head"] == head["head"] && !is_bound(trial) &&
          !trial.contains("refused") && trial["measures"]["output_rel_fro"] <= 0.2)
        least = std::min(least, trial["measures"]["ratio_to_exact"].get<double>());
    CHECK(head["ratio_to_exact"] == least);
  }
  CHECK(some);
  // Another program that reads it gets the same numbers.
  const json& one = found["heads"].back();
  std::vector<std::string> arguments{"compute",   bundled,
                                     "--layer",   one["layer"].dump(),
                                     "--head",    one["head"].dump(),
                                     "--variant", one["variant"].get<std::string>(),
                                     "--json"};
  for (const auto& [id, value] : one["parameters"].items()) {
    if (value.is_array()) continue;
    arguments.push_back("--set");
    arguments.push_back(id + "=" + (value.is_string() ? value.get<std::string>() : value.dump()));
  }
  const json computed = document_of(arguments);
  CHECK(computed["metrics"][0]["output_rel_fro"] == one["output_rel_fro"]);
}

TEST_CASE("heads: under a cost that nothing keeps it says so, and takes exact attention") {
  const std::vector<std::string> common{"heads", bundled,  "--layer", "0",         "--settings",
                                        "2",     "--cost", "0.00001", "--no-learn"};
  auto with = [&](const char* more) {
    auto all = common;
    all.push_back(more);
    return run_program(all);
  };
  const json found = with("--json").json();
  REQUIRE(found["heads"].size() == 12);
  for (const json& head : found["heads"]) {
    CHECK(head["variant"] == "exact");
    CHECK(head["within_budget"] == false);
    CHECK(head["ratio_to_exact"] == 1);
  }
  const auto lines = lines_in(with("--csv").out);
  REQUIRE(lines.size() == 13);
  for (const std::string& line : lines) CHECK(std::ranges::count(line, ',') == 11);
  const Ended text = run_program(common);
  check_says(text.out, {"none keeps it", "0 of 12 heads fit the budget, all take exact attention"});
}

TEST_CASE("pareto --y loss: each setting replaces attention in the whole model") {
  const TinyTextModel model;
  const std::string text = "the cat sat . a b c d e f g the cat sat";
  const std::vector<std::string> arguments{
      "pareto", model.folder(), "--text", text,         "--variant",
      "window", "--y",          "loss",   "--settings", "3"};
  const auto with = [&](const std::vector<std::string>& more) {
    auto all = arguments;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const json found = document_of(with({"--json"}));
  CHECK(found["y"]["id"] == "hidden");  // an encoder has no loss
  REQUIRE(found["settings"].size() == 4);
  CHECK(found["settings"][0]["variant"] == "exact");
  CHECK(found["settings"][0]["y"]["median"] == 0);
  for (const json& trial : found["trials"]) {
    CAPTURE(trial.dump());
    CHECK(trial["where"] == "all");
    if (trial["variant"] == "exact") continue;
    std::vector<std::string> effect{"effect", model.folder(), "--text", text, "--json", "--rounds",
                                    "0",      "--variant",    "window"};
    for (const auto& [id, value] : trial["parameters"].items()) {
      effect.push_back("--set");
      effect.push_back(id + "=" + value.dump());
    }
    const json measured = document_of(effect);
    CHECK(trial["measures"]["hidden"] == measured["change"]);
    CHECK(double(trial["measures"]["ratio_to_exact"]) ==
          doctest::Approx(double(measured["attention_cost"])));
  }
  // Only some heads, when they are named.
  for (const json& trial : document_of(with({"--json", "--layer", "1"}))["trials"])
    CHECK(trial["where"] == "1");
  const Ended table = run_program(with({}));
  check_says(table.out,
             {"relative error of the last hidden states", "replaced together: all layers, 4 heads",
              "later layers are those of the changed model"});
  const TemporaryDirectory scratch;
  REQUIRE(run_program(with({"-o", scratch / "f.svg"})).status == 0);
  check_says(read_bytes(scratch / "f.svg"), {"relative error of the last hidden states"});
}

TEST_CASE("heads --y loss: each head is replaced alone, and the cheapest setting is chosen") {
  const TinyTextModel model;
  const std::string text = "the cat sat . a b c d e f g the cat sat";
  const std::vector<std::string> common{
      "heads", model.folder(), "--text",     text, "--variant", "window",
      "--y",   "loss",         "--settings", "3",  "--json"};
  const auto with = [&](const std::string& option, const std::string& value) {
    auto all = common;
    all.insert(all.end(), {option, value});
    return document_of(all);
  };
  const json found = with("--within", "0.05");
  CHECK(found["budget"]["measure"] == "hidden");
  REQUIRE(found["heads"].size() == 4);
  for (const json& head : found["heads"]) {
    CAPTURE(head.dump());
    CHECK(head["hidden"] <= 0.05);
    if (head["variant"] == "exact") continue;
    std::vector<std::string> effect{"effect",
                                    model.folder(),
                                    "--text",
                                    text,
                                    "--json",
                                    "--rounds",
                                    "0",
                                    "--variant",
                                    "window",
                                    "--heads",
                                    head["layer"].dump() + "." + head["head"].dump()};
    for (const auto& [id, value] : head["parameters"].items()) {
      effect.push_back("--set");
      effect.push_back(id + "=" + value.dump());
    }
    CHECK(head["hidden"] == document_of(effect)["change"]);
  }
  const json cheap = with("--cost", "0.5");
  CHECK(cheap["budget"]["least"] == "hidden");
  for (const json& head : cheap["heads"]) CHECK(head["ratio_to_exact"] <= 0.5);
  auto words = common;
  words.back() = "--csv";
  CHECK(run_program(words).out.starts_with(
      "layer,head,n,variant,parameters,seed,scale,causal,within_budget,hidden,ratio_to_exact"));
  words.pop_back();
  check_says(run_program(words).out,
             {"of the last hidden states of at most 0.05", "replaced alone"});
}

TEST_CASE("pareto and heads: what is wrong on the command line or in the file is said in time") {
  const auto refuse = [](const std::vector<std::string>& arguments, int status,
                         const std::string& says) {
    const Ended ended = run_program(arguments);
    CAPTURE(ended.err);
    CHECK(ended.status == status);
    CHECK(ended.out.empty());
    CHECK(ended.err.find(says) != std::string::npos);
  };
  const std::string source = "synthetic:gaussian?n=32&d=4";
  refuse({"pareto", source, "--y", "speed"}, 2, "--y speed; expected one of output_rel_fro");
  refuse({"pareto", source, "--y", "density"}, 2, "neither more nor less");
  refuse({"pareto", source, "--x", "block"}, 2,
         "--x block: Fixed (fixed) has no such parameter; choose variants");
  refuse({"pareto", source, "--x", "structure", "--variant", "h1d"}, 2,
         "--x structure: of H-Transformer-1D (h1d) it is not a number");
  refuse({"pareto", source, "--x", "block", "--variant", "exact"}, 2, "no variant was chosen");
  refuse({"pareto", source, "--x", "speed"}, 2, "--x speed; expected one of output_rel_fro");
  refuse({"pareto", source, "-o", "f.jpg"}, 2, "expected a name that ends in .png");
  refuse({"pareto", source, "--variant", "h2d"}, 2, "unknown variant");
  refuse({"pareto", source, "--layer", "7"}, 2, "--layer 7");
  refuse({"pareto", source, "--head", "9"}, 2, "--head 9");
  refuse({"pareto", "no/such/file.npz"}, 3, "no/such/file.npz");
  refuse({"pareto", "synthetic:hmatrix?n=16"}, 3, "attention matrix");
  refuse({"heads", source, "--within", "0.1", "--cost", "0.1"}, 2, "--within");
  refuse({"heads", source, "--within", "-1"}, 2, "at least 0");
  refuse({"heads", source, "--json", "--csv"}, 2, "--csv");
  refuse({"pareto", source, "--y", "loss"}, 2, "is no model, whose output could change");
  refuse({"heads", source, "--y", "loss"}, 2, "is no model, whose output could change");
  refuse({"heads", source, "--y", "mass_kept"}, 2, "--y");
  const TinyTextModel model;
  const auto of_model = [&](const std::string& command, std::vector<std::string> more,
                            const std::string& says) {
    more.insert(more.begin(), {command, model.folder(), "--text", "the cat", "--y", "loss"});
    refuse(more, 2, says);
  };
  of_model("pareto", {"--x", "bytes"}, "--y loss goes with multiply_adds");
  of_model("pareto", {"--causal"}, "none of --causal");
  of_model("heads", {"--learn", "5"}, "expected no --learn");
  const TemporaryDirectory scratch;
  std::vector<OutTensor> tensors;
  for (const char* name : {"q", "k", "v"})
    tensors.push_back({name, {1, 4, 2}, std::vector<float>(8, std::nanf(""))});
  write_safetensors(scratch / "nan.safetensors", tensors, {});
  refuse({"heads", scratch / "nan.safetensors"}, 3, "NaN");
}
