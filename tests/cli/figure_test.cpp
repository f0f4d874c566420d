// Figures for a paper: what `fovea render` writes, and what can be made from it again.
#include <doctest/doctest.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "backend/backends.h"
#include "cli/options/render_options.h"
#include "cli/program.h"
#include "data/synthetic.h"
#include "input/content_hash.h"
#include "io/safetensors_writer.h"
#include "io/tensor_file.h"
#include "messages.h"
#include "session/session.h"

using namespace fovea;
using namespace fovea::test;

namespace {

const std::string figure_source = "synthetic:gaussian?n=48&d=8&seed=4";

std::vector<std::string> rendering(const std::string& source, const std::string& to,
                                   std::vector<std::string> more = {}) {
  std::vector<std::string> words{"render", source, "-o", to};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

void check_done(const std::vector<std::string>& words) {
  const Ended ended = run_program(words);
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
}

/// The text that a PNG carries under a keyword.
std::string text_in(const std::string& png, const std::string& keyword) {
  const std::string bytes = read_bytes(png);
  const std::size_t at = bytes.find("iTXt" + keyword);
  REQUIRE(at != std::string::npos);
  std::size_t length = 0;
  for (int b = 4; b > 0; --b) length = 256 * length + static_cast<unsigned char>(bytes[at - b]);
  const std::size_t before = keyword.size() + 5;
  return bytes.substr(at + 4 + before, length - before);
}

/// P of a variant at its sizes for the head, as the operator has it.
Matrix weights_of(const std::string& variant, Pool pool) {
  const Problem problem = problem_of(make_synthetic(figure_source), {});
  const auto backend = make_cpu_backend({});
  Profile profile;
  Run run{profile, {}};
  const Variant& chosen = find_variant(variant);
  const Computation its =
      prepare(problem, {.variant = &chosen, .values = values_for_length(chosen, problem.n())},
              *backend, run);
  return its.op->tile({0, problem.n()}, {0, problem.n()}, pool, run);
}

}  // namespace

TEST_CASE("a figure can be made again from itself, with the same session") {
  const TemporaryDirectory scratch;
  const std::string first = scratch / "first.png";
  const std::vector<std::string> how{"--variant", "h1d",    "--variant", "hyper",  "--set",
                                     "block=16",  "--view", "heatmap",   "--view", "error",
                                     "--seed",    "9",      "--norm",    "linear", "--causal"};
  check_done(rendering(figure_source, first, how));
  const std::string session = text_in(first, "fovea:session");
  CHECK(session.find("\"fovea_session\": 1") != std::string::npos);
  CHECK(session.find(figure_source) != std::string::npos);
  for (const char* ending : {".png", ".svg", ".pdf"}) {
    CAPTURE(ending);
    const std::string figure = scratch / ("figure" + std::string(ending)),
                      again = scratch / "a.png";
    check_done(rendering(figure_source, figure, how));
    check_done(rendering(figure, again));
    CHECK(text_in(again, "fovea:session") == session);
  }
}

TEST_CASE("law: the command in a figure quotes no word that a shell takes as it is") {
  const TemporaryDirectory folder;
  const std::string one = folder / "one.png";
  for (const std::string seed : {"0", "1234567890"}) {
    check_done(rendering("synthetic:golden", one, {"--variant", "exact", "--seed", seed}));
    CHECK(text_in(one, "fovea:command") ==
          "fovea render synthetic:golden -o figure.png --variant exact --seed " + seed);
  }
}

TEST_CASE("the command in a figure makes it, wherever it was written") {
  const TemporaryDirectory scratch;
  const std::string one = scratch / "one.png", other = scratch / "other.png";
  check_done(rendering(figure_source, one, {"--title", "it's (a)", "--variant", "exact"}));
  CHECK(text_in(one, "fovea:command") == "fovea render '" + figure_source +
                                             "' -o figure.png --title 'it'\\''s (a)' "
                                             "--variant exact");
  check_done(rendering(figure_source, other, {"--title", "it's (a)", "--variant", "exact"}));
  CHECK(read_bytes(one) == read_bytes(other));
}

TEST_CASE("a figure for anonymous review names nothing") {
  const TemporaryDirectory scratch;
  for (const char* ending : {".png", ".svg", ".pdf"}) {
    const std::string path = scratch / ("f" + std::string(ending));
    check_done(rendering(figure_source, path, {"--variant", "exact", "--no-session"}));
    CHECK(read_bytes(path).find("synthetic:") == std::string::npos);
    const Ended again = run_program(rendering(path, scratch / "again.png"));
    CHECK(again.status == 3);
    check_says(again.err, {path, "carries no session", "open its source"});
  }
}

TEST_CASE("a figure says what it was made by, where its source does not last") {
  const TemporaryDirectory scratch;
  const std::string made_by = "fovea.figure(q, k, v)  # q [2, 5, 3]";
  for (const char* ending : {".png", ".svg", ".pdf"}) {
    CAPTURE(ending);
    const std::string path = scratch / ("f" + std::string(ending));
    check_done(rendering(figure_source, path, {"--variant", "exact", "--made-by", made_by}));
    CHECK(read_bytes(path).find("synthetic:") == std::string::npos);
    const Ended again = run_program(rendering(path, scratch / "again.png"));
    CHECK(again.status == 3);
    check_says(again.err, {path, "carries no session", made_by});
  }
  const std::vector<std::string> both{"--variant", "exact", "--made-by", "a", "--no-session"};
  CHECK(run_program(rendering(figure_source, scratch / "f.png", both)).status == 2);
}

TEST_CASE("presets are listed, and one that is not known is named with those that are") {
  const Ended list = run_program({"render", "--preset", "list"});
  CHECK(list.status == 0);
  for (const char* words : {"neurips", "5.5 in", "icml-full", "6.75 in", "cvpr-full", "6.875 in"})
    CHECK(list.out.find(words) != std::string::npos);
  const TemporaryDirectory scratch;
  const Ended wrong =
      run_program(rendering(figure_source, scratch / "f.png", {"--preset", "nips"}));
  CHECK(wrong.status == 2);
  check_says(wrong.err, {"--preset", "'nips'", "neurips", "slides"});
  const Ended font =
      run_program(rendering(figure_source, scratch / "f.png", {"--font", "No Such Font"}));
  CHECK(font.status == 2);
  check_says(font.err, {"--font No Such Font", "fc-list"});
  CHECK(scratch.files().empty());
}

TEST_CASE("the numbers of a panel are those of its operator, as CSV, NPY and JSON") {
  const TemporaryDirectory scratch;
  const Matrix p = weights_of("h1d", {});
  const auto write = [&](const std::string& name, std::vector<std::string> more = {}) {
    std::vector<std::string> words{"--variant", "h1d", "--data", scratch / name};
    words.insert(words.end(), more.begin(), more.end());
    check_done(rendering(figure_source, scratch / "f.png", words));
    return read_bytes(scratch / name);
  };
  std::istringstream csv(write("p.csv"));
  std::string line, cell;
  REQUIRE(std::getline(csv, line));
  CHECK(line.starts_with("query\\key,0,1,2,"));
  const std::string npy = write("p.npy");
  CHECK(npy.find("'shape': (48, 48)") != std::string::npos);
  CHECK(npy.size() == 128 + 4 * 48 * 48);
  const auto json = nlohmann::json::parse(write("p.json"));
  CHECK(json["queries"] == nlohmann::json{0, 48});
  CHECK(json["pooled"] == "");
  for (Index r = 0; r < 48; ++r) {
    REQUIRE(std::getline(csv, line));
    std::istringstream cells(line);
    std::getline(cells, cell, ',');
    CHECK(cell == std::to_string(r));
    for (Index c = 0; c < 48; ++c) {
      std::getline(cells, cell, ',');
      CHECK(std::stof(cell) == p(r, c));
      CHECK(json["values"][r][c].get<float>() == p(r, c));
      float value = 0;
      std::memcpy(&value, npy.data() + npy.size() - 4 * (48 * 48 - (48 * r + c)), sizeof value);
      CHECK(value == p(r, c));
    }
  }
}

TEST_CASE("several panels are a list or a directory, and no single matrix") {
  const TemporaryDirectory scratch;
  const auto words = [&](const std::string& data) {
    return rendering(figure_source, scratch / "f.png",
                     {"--variant", "h1d", "--variant", "tf", "--view", "heatmap", "--view", "cost",
                      "--data", scratch / data});
  };
  const Ended refused = run_program(words("p.csv"));
  CHECK(refused.status == 2);
  check_says(refused.err, {"p.csv", "one panel", "directory"});
  check_done(words("all.json"));
  const auto json = nlohmann::json::parse(read_bytes(scratch / "all.json"));
  REQUIRE(json.size() == 4);
  CHECK(json[1]["title"] == "Treeformer TF");
  CHECK(json[2]["kind"] == "table");
  check_done(words("all"));
  CHECK(read_bytes(scratch / "all/1-heatmap-h-transformer-1d.csv").starts_with("query\\key,0,1"));
  CHECK(read_bytes(scratch / "all/4-cost-treeformer-tf.csv").starts_with("what,value\n"));
}

TEST_CASE("times are a table for a paper: booktabs and Markdown") {
  const std::vector<std::string> words{"bench", "--n", "64", "--d", "8", "--variant", "h1d"};
  const auto lines_in = [&](const char* format) {
    std::vector<std::string> with = words;
    with.insert(with.end(), {"--format", format});
    const Ended ended = run_program(with);
    REQUIRE(ended.status == 0);
    std::vector<std::string> lines;
    std::istringstream out(ended.out);
    for (std::string line; std::getline(out, line);) lines.push_back(line);
    return lines;
  };
  const auto latex = lines_in("latex");
  REQUIRE(latex.size() == 11);
  CHECK(latex[0].starts_with("% independent gaussians: n = 64, d = 8, 1 head, bidirectional; "));
  CHECK(latex[1] == "% \\usepackage{booktabs}");
  CHECK(latex[2] == "\\begin{tabular}{lrrrrrrrr}");
  CHECK(latex[3] == "\\toprule");
  CHECK(
      latex[4] ==
      "attention & plan & prepare & apply & p10 & p90 & speed-up & multiply-adds & of exact \\\\");
  CHECK(latex[5] == "\\midrule");
  CHECK(latex[6].starts_with("Exact & "));
  CHECK(latex[6].ends_with(" & 1 $\\times$ & 65.5 k & 1 \\\\"));
  CHECK(latex[7].starts_with("H-Transformer-1D & "));
  CHECK(latex[8] == "\\bottomrule");
  CHECK(latex[9] == "\\end{tabular}");
  CHECK(latex[10].starts_with("% Speed-ups are medians of the ratios of each round"));
  const auto markdown = lines_in("markdown");
  CHECK(markdown[0] ==
        "| attention | plan | prepare | apply | p10 | p90 | speed-up | multiply-adds | of exact |");
  CHECK(markdown[1] == "|---|---:|---:|---:|---:|---:|---:|---:|---:|");
  CHECK(markdown[2].starts_with("| Exact | "));
}

TEST_CASE("a figure carries the hash of what it shows, or none where its source was overwritten") {
  const TemporaryDirectory scratch;
  const std::string path = scratch.write("t.txt", "the cat sat on the mat");
  const auto age = [&] {  // the clock of a file system ticks slowly
    std::filesystem::last_write_time(
        path, std::filesystem::file_time_type::clock::now() - std::chrono::minutes(1));
  };
  age();
  const Source source = open_source(path);
  const std::string shown = content_hash_of(source.files).text();
  std::ostringstream out, notes;
  const Console console{.out = out, .err = notes, .stop = {}};
  std::filesystem::rename(scratch.write("new.txt", "another text"), path);
  CHECK(hash_to_write(source, console) == shown);
  CHECK(notes.str().empty());
  age();
  const Source other = open_source(path);
  write_bytes(path, "a third one.");
  CHECK(hash_to_write(other, console).empty());
  check_says(notes.str(), {"t.txt", "was changed after it was opened", "no hash of its content"});
}

TEST_CASE("a figure made again says whether its source has changed, and the file beside it") {
  const TemporaryDirectory scratch;
  const std::string source = scratch / "qk.safetensors", figure = scratch / "f.svg";
  const std::vector<float> ones(32, 1);
  write_safetensors(source, {{"a__q", {1, 8, 4}, ones}, {"a__k", {1, 8, 4}, ones}}, {});
  const auto write_sidecar = [&](double scale) {
    const nlohmann::json layer{{"module_name", "a"}, {"key_q", "a__q"}, {"key_k", "a__k"}},
        config{{"num_attention_heads", 1}, {"hidden_size", 4}, {"attention_multiplier", scale}},
        all{{"config", config}, {"layer_order", nlohmann::json::array({layer})}};
    scratch.write("qk.json", all.dump());
  };
  write_sidecar(0.25);
  check_done(rendering(source, figure, {"--variant", "exact"}));
  const auto says_changed = [&](const std::string& from) {
    const Ended again = run_program(rendering(from, scratch / "again.png"));
    CHECK(again.status == 0);
    return contains(again.err, "its content has changed");
  };
  // As older versions wrote it: with the hash of the opened file alone.
  const TensorFile alone = read_safetensors(source);
  const std::string old = content_hash_of(alone.files).text(),
                    both = content_hash_of(open_source(source).files).text();
  std::string older = read_bytes(figure);
  REQUIRE(contains(older, both));
  older.replace(older.find(both), both.size(), old);
  const std::string older_figure = scratch.write("older.svg", older);
  CHECK_FALSE(says_changed(figure));
  CHECK_FALSE(says_changed(older_figure));
  write_sidecar(0.75);
  CHECK(says_changed(figure));
  CHECK_FALSE(says_changed(older_figure));
}
