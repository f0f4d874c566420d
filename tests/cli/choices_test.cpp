// What the program takes from its command line and from files, and what it refuses in time.
#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>

#include "cli/program.h"
#include "input/session_file.h"
#include "io/bytes.h"
#include "io/safetensors_writer.h"
#include "io/structure_file.h"
#include "io/tensor_file.h"
#include "messages.h"
#include "session/session.h"
#include "variants/learned_tree.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

Ended check_refused(const std::vector<std::string>& arguments, int status,
                    const std::string& says) {
  const Ended ended = run_program(arguments);
  CAPTURE(arguments);
  CAPTURE(ended.err);
  CHECK(ended.status == status);
  CHECK(ended.out.empty());
  CHECK(ended.err.find(says) != std::string::npos);
  return ended;
}

std::string session_text(const std::string& source, Index layer, const std::string& view) {
  return R"({"fovea_session": 1, "content_sha256": "", "layer": )" + std::to_string(layer) +
         R"(, "head": 0, "source": ")" + source +
         R"(", "causal": null, "scale": null, "pinned_query": null,
      "columns": [{"variant": "h1d", "parameters": {"block": "2"}, "seed": 0}],
      "views": [")" +
         view + R"("], "viewport": [0, 4, 0, 4],
      "settings": {"norm": "linear", "log_floor": 1e-4, "error": "signed", "pool": "max",
        "mask_block": 2, "rank_of": "attention", "rank_leaf": 2, "rank_tolerance": 1e-2,
        "rank_partition": "hierarchy", "shared_range": true, "colormap": "viridis"}})";
}

void add_layer(std::vector<OutTensor>& tensors, const std::string& prefix, Index n) {
  for (const char* name : {"q", "k", "v"})
    tensors.push_back({prefix + name, {n, 2}, std::vector<float>(std::size_t(2 * n), 0.5f)});
}

/// A variable of the environment for the programs started meanwhile.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    value ? setenv(name, value, 1) : unsetenv(name);
  }
  ~Variable() { old_ ? setenv(name_, old_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> old_;
};

const std::string large = "synthetic:clusters?n=131072&d=64";

}  // namespace

TEST_CASE("an estimate is refused for a session whose views need all of exact attention") {
  const TemporaryDirectory scratch;
  const std::string session =
      scratch.write("s.fovea.json", session_text("synthetic:clusters?n=9000&d=8", 0, "output"));
  check_refused({"render", session, "--estimate", "-o", scratch / "f.png"}, 2,
                "leave out --estimate");
}

TEST_CASE("a file name that is not UTF-8 does not lose the result") {
  const TemporaryDirectory scratch;
  std::vector<OutTensor> tensors;
  add_layer(tensors, "", 8);
  const std::string source = scratch / "caf\xe9.safetensors", out = scratch / "z.safetensors";
  write_safetensors(source, tensors, {});
  const Ended ended = run_program({"compute", source, "--variant", "exact", "-o", out, "--json"});
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  CHECK(ended.json()["source"].get<std::string>().find("caf\xef\xbf\xbd") != std::string::npos);
  CHECK(nlohmann::json::parse(read_safetensors(out).metadata.at("fovea")) == ended.json());
}

TEST_CASE("a number that another layer is named by says which layer it is") {
  const auto notes = [](const std::string& layer) {
    const Ended ended =
        run_program({"compute", bundled, "--variant", "exact", "--layer", layer, "--head", "0"});
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    CHECK(ended.out.find("the one named") == std::string::npos);
    return ended.err;
  };
  CHECK(notes("2").find("layer 2 is layer4 (the one named layer2 is number 1)") !=
        std::string::npos);
  for (const char* layer : {"0", "1", "3", "layer2"}) {
    CAPTURE(layer);
    CHECK(notes(layer).find("the one named") == std::string::npos);
  }
}

TEST_CASE("a session's layer is the one at its place, whatever the layers are called") {
  const TemporaryDirectory scratch;
  std::vector<OutTensor> tensors;
  add_layer(tensors, "1.", 4);
  add_layer(tensors, "2.", 6);
  const std::string source = scratch / "layers.safetensors", figure = scratch / "f.svg";
  write_safetensors(source, tensors, {});
  const std::string session = scratch.write("s.fovea.json", session_text(source, 1, "heatmap"));
  const auto footer = [&](std::vector<std::string> more) {
    std::vector<std::string> all{"render", session, "--width", "16in", "-o", figure};
    all.insert(all.end(), more.begin(), more.end());
    const Ended ended = run_program(all);
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    return read_bytes(figure);
  };
  CHECK(footer({}).find("layer 2, head 0, n = 6") != std::string::npos);
  CHECK(footer({"--layer", "1"}).find("layer 1, head 0, n = 4") != std::string::npos);
}

TEST_CASE("a session's column that holds a head is drawn with that head, under its name") {
  const TemporaryDirectory scratch;
  std::vector<OutTensor> tensors;
  add_layer(tensors, "1.", 6);
  add_layer(tensors, "2.", 6);
  for (const std::size_t of : {3, 4}) {  // queries and keys of the second
    auto& values = std::get<std::vector<float>>(tensors[of].values);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 5);
  }
  const std::string source = scratch / "layers.safetensors", figure = scratch / "f.svg";
  write_safetensors(source, tensors, {});
  const auto render = [&](const std::string& column) {
    std::string text = session_text(source, 0, "heatmap");
    const std::string seed = R"("seed": 0)";
    REQUIRE(text.find(seed) != std::string::npos);
    text.replace(text.find(seed), seed.size(), seed + column);
    const std::string session = scratch.write("s.fovea.json", text);
    const Ended ended = run_program({"render", session, "--width", "16in", "-o", figure});
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    return read_bytes(figure);
  };
  const std::string held = render(R"(, "held": {"source": "", "layer": 1, "head": 0})");
  CHECK(held.find("layer 2, head 0") != std::string::npos);
  CHECK(held.find("layer 1, head 0, n = 6") != std::string::npos);  // the opened one
  const std::string opened = render("");
  CHECK(opened.find("layer 2, head 0") == std::string::npos);
  const auto image_of = [](const std::string& svg) {
    const std::size_t begin = svg.find("base64,");
    return svg.substr(begin, svg.find('"', begin) - begin);
  };
  CHECK(image_of(held) != image_of(opened));
}

TEST_CASE("law: a column that holds a head of another file has the panels of that file") {
  const TemporaryDirectory scratch;
  const std::string opened = "content:" + scratch.write("a.txt", "the cat sat on the mat again"),
                    other = "content:" + scratch.write("b.txt", "a dog ran off a dog ran");
  const auto panels_of = [&](const std::string& source, const std::string& held) {
    SessionFile file{.session = standard_session(source, 7), .content_hash = ""};
    file.session.views = all_views();
    file.session.pinned_query = 4;
    file.session.columns.resize(3);
    for (Column& column : file.session.columns)
      if (!held.empty()) column.held = HeldHead{.source = held, .layer = 0, .head = 0};
    const std::string session = scratch / "s.fovea.json", data = scratch / "data.json";
    write_session(session, file);
    const Ended ended = run_program({"render", session, "-o", scratch / "f.svg", "--data", data});
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    auto panels = nlohmann::json::parse(read_bytes(data));
    for (auto& panel : panels) panel.erase("title");  // it names the head that is held
    return panels;
  };
  const auto held = panels_of(opened, other), whole = panels_of(other, "");
  REQUIRE(held.size() == 3 * all_views().size());
  REQUIRE(whole.size() == held.size());
  for (std::size_t p = 0; p < held.size(); ++p) {
    CAPTURE(held[p].dump());
    CAPTURE(whole[p].dump());
    CHECK(held[p] == whole[p]);
  }
  CHECK(held != panels_of(opened, ""));
}

TEST_CASE("a figure with a learned tree is the same when it is made again from itself") {
  const TemporaryDirectory scratch;
  const std::string source = "synthetic:clusters?n=128&d=16&heads=2&seed=1";
  // A tree of the other head, as the window keeps it.
  const std::string fit = scratch / "fit.safetensors";
  REQUIRE(run_program({"fit", source, "--variant", "tf", "--set", "height=3", "--steps", "40",
                       "--head", "0", "-o", fit})
              .status == 0);
  SessionFile file{.session = standard_session(source, 128), .content_hash = ""};
  file.session.head = 1;
  file.session.views = {find_view("tree"), find_view("mask")};
  Column column{.variant = "tf", .values = defaults(find_variant("tf").schema), .seed = 0};
  set_value(find_variant("tf").schema, column.values, "height", "3");
  set_learned(find_variant("tf"), column.values, 40);
  file.session.columns = {column};
  ColumnTree tree{.column = 0, .learned_on = "layer 0, head 0", .tensors = {}};
  const Structure all = read_structure(fit, 0, 1);
  for (const char* name : {"tree_weight", "tree_bias"}) tree.tensors.set(*all.find(name));
  file.trees = {tree};
  const std::string session = scratch / "s.fovea.json";
  write_session(session, file);
  const auto drawn = [&](const std::string& from, std::vector<std::string> more = {}) {
    const std::string data = scratch / "data.json";
    std::vector<std::string> words{"render", from, "-o", scratch / "again.svg", "--data", data};
    words.insert(words.end(), more.begin(), more.end());
    const Ended ended = run_program(words);
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    return nlohmann::json::parse(read_bytes(data));
  };
  const auto first = drawn(session);
  CHECK(first.dump().find("learned on layer 0, head 0") != std::string::npos);
  std::filesystem::rename(scratch / "again.svg", scratch / "first.svg");
  CHECK(drawn(scratch / "first.svg") == first);
  // Without captions and a footer it is still said where the tree was learned, and no name without
  // the session.
  const auto words = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"--captions", "none", "--no-footer"});
    (void)drawn(session, more);
    return read_bytes(scratch / "again.svg");
  };
  CHECK(words({}).find("its tree was learned on layer 0, head 0") != std::string::npos);
  const std::string anonymous = words({"--no-session"});
  CHECK(anonymous.find("learned on another head or text") != std::string::npos);
  CHECK(anonymous.find("layer 0, head 0") == std::string::npos);
  // A tree that the command learns is in the figure, too.
  const std::string learned = scratch / "learned.svg";
  REQUIRE(run_program({"render", source, "--variant", "tf", "--set", "tree=learned", "--set",
                       "steps=20", "-o", learned})
              .status == 0);
  const SessionFile held = read_session(learned);
  REQUIRE(held.trees.size() == 1);
  CHECK(held.trees[0].learned_on.empty());
  CHECK(held.trees[0].tensors.has("tree_weight"));
  // What is another head, or another tree, learns its own.
  CHECK(drawn(session, {"--seed", "3"}).dump().find("learned on") == std::string::npos);
  CHECK(drawn(session, {"--head", "0"}).dump().find("learned on") == std::string::npos);
}

TEST_CASE("a session of an attention matrix is drawn where its session looked") {
  const TemporaryDirectory scratch;
  std::string text = session_text("synthetic:hmatrix?n=16", 0, "heatmap");
  const auto render = [&] {
    const std::string session = scratch.write("s.fovea.json", text), figure = scratch / "f.svg";
    const Ended ended = run_program({"render", session, "-o", figure});
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    return read_bytes(figure);
  };
  const std::string part = render();
  CHECK(part.find("layer 0, head 0") != std::string::npos);
  const std::string looked = R"("viewport": [0, 4, 0, 4])";
  text.replace(text.find(looked), looked.size(), R"("viewport": [0, 16, 0, 16])");
  CHECK(render() != part);
}

TEST_CASE("figures name the tokens, and show the output errors beside error maps") {
  const TemporaryDirectory scratch;
  constexpr int n = 48;
  std::vector<OutTensor> tensors;
  add_layer(tensors, "", n);
  auto& v = std::get<std::vector<float>>(tensors[2].values);
  std::iota(v.begin(), v.end(), 0.0f);  // of equal values every attention makes the same output
  nlohmann::json tokens;
  for (int token = 0; token < n; ++token) tokens.push_back("t" + std::to_string(token));
  const std::string source = scratch / "named.safetensors", figure = scratch / "f.svg";
  write_safetensors(source, tensors, {{"tokens", tokens.dump()}});
  const Ended ended = run_program({"render", source, "--variant", "strided", "--set", "stride=4",
                                   "--view", "error", "--width", "16in", "-o", figure});
  CAPTURE(ended.err);
  REQUIRE(ended.status == 0);
  const std::string svg = read_bytes(figure);
  CHECK(svg.find(">t17<") != std::string::npos);
  CHECK(svg.find("strip: output error") != std::string::npos);
}

TEST_CASE("--head all is accepted only by commands that take several heads") {
  const TemporaryDirectory scratch;
  check_refused({"rankmap", "synthetic:golden", "--head", "all"}, 2, "--head all");
  check_refused({"render", "synthetic:golden", "--head", "all", "-o", scratch / "f.png"}, 2,
                "--head all");
  CHECK(
      run_program({"compute", "synthetic:golden", "--variant", "exact", "--head", "all"}).status ==
      0);
}

TEST_CASE("impossible plans and rank maps are refused before exact attention is computed") {
  const TemporaryDirectory scratch;
  // To make the head and to plan takes some twentieth of the processor time that its exact
  // attention would take: 64 times that of an eighth of the tokens, on this machine, at this time.
  const double exact = 64 * run_program({"compute", "synthetic:clusters?n=16384&d=64", "--variant",
                                         "exact", "--no-metrics"})
                                .cpu_seconds;
  const double in_time = exact / 2;
  CHECK(check_refused({"rankmap", large}, 4, "too large to decompose").cpu_seconds < in_time);
  const std::vector<std::string> wrong{"--variant", "fixed", "--set",
                                       "stride=8",  "--set", "summary=64"};
  for (std::vector<std::string> arguments :
       {std::vector<std::string>{"render", large, "-o", scratch / "f.png"},
        std::vector<std::string>{"rankmap", "synthetic:clusters?n=2000&d=64"},
        std::vector<std::string>{"bench", "--n", "131072"}}) {
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    CHECK(check_refused(arguments, 2, "summary").cpu_seconds < in_time);
  }
}

TEST_CASE("a display that cannot be reached ends with status 4") {
  const Variable wayland("WAYLAND_DISPLAY", nullptr), platform("QT_QPA_PLATFORM", nullptr);
  const TemporaryDirectory scratch;
  // A display may be named by the path of its socket, of which there is none here. Any number might
  // be that of a real display, on which the window would open and wait for a person.
  for (const std::string& display : {scratch / "display:0", std::string()}) {
    const Variable here("DISPLAY", display.c_str());
    check_refused({"synthetic:golden"}, 4, "display");
    check_refused({"bench", "--n", "64", "--interaction"}, 4, "display");
  }
}

TEST_CASE("a file before a command is refused rather than forgotten") {
  check_refused({"synthetic:golden", "info", "synthetic:hmatrix"}, 2, "synthetic:golden");
}

TEST_CASE("every command takes the same parameters for a head") {
  const auto computed =
      run_program({"compute", "synthetic:gaussian?n=64&d=4", "--variant", "hyper", "--json"})
          .json();
  const auto mapped = run_program({"rankmap", "synthetic:gaussian?n=64&d=4", "--variant", "hyper",
                                   "--seed", "7", "--json"})
                          .json();
  const auto timed = run_program({"bench", "--n", "64", "--d", "4", "--variant", "hyper",
                                  "--repeat", "1", "--json"})
                         .json();
  CHECK(computed["parameters"] == mapped["parameters"]);
  CHECK(computed["parameters"] == timed["measurements"][1]["parameters"]);
  CHECK(mapped["seed"] == 7);
}

TEST_CASE("law: the options of a head are the same for random heads of bench and for a source") {
  const std::vector<std::string> options[] = {
      {}, {"--causal"}, {"--no-causal"}, {"--window", "3"}, {"--softcap", "2"}, {"--scale", "0.3"}};
  for (const char* variant : {"strided", "performer"})  // the second one has no form with most
    for (const auto& option : options) {
      CAPTURE(variant);
      CAPTURE(option);
      std::vector<std::string> computed{"compute", "synthetic:gaussian?n=24&d=4"},
          timed{"bench", "--n", "24", "--d", "4", "--repeat", "1"};
      for (auto* words : {&computed, &timed}) {
        words->insert(words->end(), {"--variant", variant, "--json"});
        words->insert(words->end(), option.begin(), option.end());
      }
      const Ended one = run_program(computed), other = run_program(timed);
      REQUIRE(one.status == other.status);
      if (one.status == 0)
        CHECK(one.json()["cost"]["multiply_adds"] ==
              other.json()["measurements"][1]["cost"]["multiply_adds"]);
    }
}

TEST_CASE("a rank map of logits is compared with all pairs, under a causal mask, too") {
  const auto map = [](const std::string& matrix, bool causal) {
    std::vector<std::string> words{"rankmap", "synthetic:gaussian?n=64", "--of", matrix, "--json"};
    if (causal) words.emplace_back("--causal");
    return document_of(words);
  };
  const auto dense = [](const nlohmann::json& of) {
    return of["compression"].get<double>() * of["stored_entries"].get<double>();
  };
  for (const bool causal : {false, true}) {
    CHECK(dense(map("logits", causal)) == doctest::Approx(64 * 64));
    CHECK(dense(map("attention", causal)) == doctest::Approx(causal ? 64 * 65 / 2 : 64 * 64));
  }
}

TEST_CASE("blocks of rank 0 store 0 entries, which JSON does not write as null") {
  const std::vector<std::string> map{
      "rankmap", "synthetic:gaussian?n=64", "--of", "error", "--partition", "uniform"};
  auto json = map;
  json.emplace_back("--json");
  const auto document = run_program(json).json();
  CHECK(document["stored_entries"] == 0.0);
  CHECK(document["compression"] == "infinite");
  CHECK(run_program(map).out.find("every block has rank 0") != std::string::npos);
}

TEST_CASE("options that have no effect on --interaction are refused with it") {
  for (const std::vector<std::string>& option : {std::vector<std::string>{"--layout", "[n,d]"},
                                                 {"--causal"},
                                                 {"--set", "block=8"},
                                                 {"--seed", "3"},
                                                 {"--variant", "h1d"},
                                                 {"--repeat", "2"},
                                                 {"--scale", "1"}}) {
    std::vector<std::string> arguments{"bench", "synthetic:golden", "--interaction"};
    arguments.insert(arguments.end(), option.begin(), option.end());
    check_refused(arguments, 2, option.front());
  }
}

TEST_CASE("bench --selections has masks, lists and selectors, and lists that were opened") {
  const Ended ended =
      run_program({"bench", "--selections", "--n", "512", "--d", "8", "--repeat", "1", "--json"});
  REQUIRE(ended.status == 0);
  const Json document = ended.json();
  std::set<std::string> names;
  for (const Json& row : document["selections"]) {
    names.insert(row["selection"].get<std::string>());
    CHECK(row["live_share"].get<double>() > 0);
    CHECK(row["live_share"].get<double>() <= 1);
  }
  for (const char* name : {"128 x 64 blocks", "lists of keys", "moba", "dsa", "quest"})
    CHECK(names.contains(name));
  CHECK(document["opened"]["queries"] == 2048);
  CHECK(document["opened"]["most"] == 1024);
  for (const char* option : {"--variant", "--layer", "--format"})
    CHECK(run_program({"bench", "--selections", option, "0"}).status == 2);
}

TEST_CASE("several variants that are refused for one reason are named together") {
  const Ended ended =
      run_program({"heads", "synthetic:clusters?n=64&d=8", "--causal", "--variant", "kde",
                   "--variant", "linformer", "--variant", "h1d", "--no-learn", "--within", "0.05"});
  REQUIRE(ended.status == 0);
  CHECK(ended.out.find("refused kde, linformer: has no causal form; expected a head without a "
                       "causal mask (") != std::string::npos);
  CHECK(ended.out.find("has no causal form") == ended.out.rfind("has no causal form"));
}

TEST_CASE(
    "tensors that a variant does not take are reported, and a structure without any it takes is "
    "refused") {
  const TemporaryDirectory scratch;
  const std::string samples = scratch / "samples.safetensors", both = scratch / "both.safetensors";
  const OutTensor sampled{"sampled_keys", {1, 4}, std::vector<std::int32_t>{0, 3, 6, 6}};
  write_safetensors(samples, {sampled}, {});
  write_safetensors(both,
                    {sampled,
                     {"tree_weight", {1, 1, 2}, std::vector<float>{1, 0}},
                     {"tree_bias", {1, 1}, std::vector<float>{-.25f}}},
                    {});
  for (const char* variant : {"tf", "tc", "h1d", "exact"})
    check_refused({"compute", "synthetic:golden", "--variant", variant, "--structure", samples}, 3,
                  "samples.safetensors");
  const Ended ended =
      run_program({"compute", "synthetic:golden", "--variant", "tf", "--structure", both});
  CHECK(ended.status == 0);
  CHECK(ended.out.find("not used by Treeformer TF: sampled_keys") != std::string::npos);
}

TEST_CASE("a group leaves out what has no causal form, and says so, but a name is refused") {
  const std::string head = "synthetic:gaussian?n=32&d=4";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"rankmap", head, "--leaf", "8"},
        {"spans", head, "--sinks"},
        {"bench", "--n", "32", "--d", "4", "--repeat", "1"}}) {
    CAPTURE(command.front());
    std::vector<std::string> group = command, name = command, all = command;
    for (const char* more : {"--variant", "all", "--causal", "--json"}) group.push_back(more);
    for (const char* more : {"--variant", "linformer", "--causal"}) name.push_back(more);
    for (const char* more : {"--variant", "all", "--json"}) all.push_back(more);
    const Ended causal = run_program(group);
    CHECK(causal.status == 0);
    CHECK(causal.err.find("no causal form: kde, linformer, sinkhorn") != std::string::npos);
    CHECK(causal.out.find("linformer") == std::string::npos);
    CHECK(causal.out.find("performer") != std::string::npos);
    CHECK(run_program(name).status == 2);
    const Ended bidirectional = run_program(all);
    CHECK(bidirectional.status == 0);
    CHECK(bidirectional.err.find(
              "no form without a causal mask: h2o, snapkv, expected, delta, ssd, loglinear") !=
          std::string::npos);
    CHECK(bidirectional.err.find("no causal form") == std::string::npos);
    CHECK(bidirectional.out.find("linformer") != std::string::npos);
  }
}

TEST_CASE("figures of papers that run no model need none that came with Fovea") {
  const TemporaryDirectory folder;
  const auto without_models = [&](const std::string& figure) {
    const std::string copy = folder / "fovea";
    Running program({"paper", figure, "--json"}, "",
                    {"/bin/sh", "-c", "cp \"$0\" " + copy + " && exec " + copy + " \"$@\""});
    return program.wait();
  };
  const Ended made = without_models("summary-columns");
  CAPTURE(made.err);
  CHECK(made.status == 0);
  CHECK_FALSE(made.json()["numbers"].empty());
  const Ended refused = without_models("replaced-layers");
  CHECK(refused.status == 2);
  check_says(refused.err, {"bundled model was not installed", "--model with --text or --input"});
}

TEST_CASE("the papers' numbers are listed, computed, drawn, and refused by a wrong name") {
  const TemporaryDirectory scratch;
  const auto list = document_of({"paper", "list", "--json"});
  CHECK(run_program({"paper"}).out.find(list[0]["id"].get<std::string>()) != std::string::npos);
  const std::string figure = scratch.path() + "/ranks.svg";
  const auto ranks = document_of({"paper", "rank-map", "--json", "-o", figure});
  CHECK(ranks["numbers"][3]["id"] == "stored_entries");
  CHECK(ranks["numbers"][3]["published"] == 192);
  CHECK(ranks["numbers"][3]["found"] == 192);
  CHECK(std::filesystem::exists(figure));
  const Ended refused = check_refused({"paper", "figure-9"}, 2, "expected one of rank-map");
  for (const auto& one : list)
    CHECK(refused.err.find(one["id"].get<std::string>()) != std::string::npos);
  check_refused({"paper", "rank-map", "--longest", "512"}, 2,
                "--longest is of tree-time, running-time;");
  const auto times = document_of({"paper", "tree-time", "--longest", "256", "--json"});
  CHECK(times["device"].get<std::string>().ends_with("1 thread"));
  check_refused({"paper", "list", "-o", figure}, 2, "name of a figure");
  check_refused({"paper", "rank-map", "-o", "ranks.doc"}, 2, "ranks.doc");
}
