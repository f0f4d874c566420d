// All that commands print, as text, JSON and CSV, with all messages of wrong command lines, against
// what is kept in tests/cli/said.
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "cli/option_words.h"
#include "kept_lines.h"
#include "tiny_text_model.h"

using namespace fovea::test;
using nlohmann::json;

namespace {

const std::string heads = "synthetic:clusters?n=48&d=8&heads=2&seed=1";

/// Times, numbers of runs and their ratios, which are of a moment.
bool is_timing(const std::string& line) {
  static const std::regex timing(
      "^ *(plan|apply|upload|total|speed-up|exact attention|time)  |^[0-9]+ %| × \\(|medians of up "
      "to");
  return std::regex_search(line, timing);
}

/// A line for each value, of which no machine and no moment has another.
void flatten(std::vector<std::string>& lines, const std::string& path, const json& value) {
  static const std::regex own(
      "(^|_)ms(_|$)|seconds|device|processor|commit|version|compiler|threads|"
      "command|gpu|cpu|gflops|resident|rounds|runs|speed|timing");
  const std::string name = path.substr(path.rfind('.') + 1);
  if (std::regex_search(name, own)) return lines.push_back(path + ": #");
  const bool short_list = value.is_array() && !value.empty() && value[0].is_primitive();
  if (short_list) {
    std::string line = path + ": " + std::to_string(value.size()) + " of";
    for (std::size_t at = 0; at < std::min<std::size_t>(value.size(), 16); ++at)
      line += " " + value[at].dump();
    return lines.push_back(line);
  }
  if (value.is_primitive() || value.empty()) return lines.push_back(path + ": " + value.dump());
  for (const auto& [key, inner] : value.items()) flatten(lines, path + "." + key, inner);
}

/// Without times, devices and folders.
std::string masked(std::string text, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders)
    for (std::size_t at; (at = text.find(folder)) != text.npos;)
      text.replace(at, folder.size(), "#");
  static const std::regex times(R"(\d[\d.,]*(e[+-]\d+)? ?(ns|µs|ms|s|min)\b)"),
      processors("CPU[^,;]*"), sizes(R"(\d[\d.]* [KMGT]iB)"), threads(R"(\d+ threads?)"),
      scratch("fovea-test-[A-Za-z0-9]+");
  text = std::regex_replace(text, times, "# s");
  text = std::regex_replace(text, sizes, "# B");
  text = std::regex_replace(text, threads, "# threads");
  text = std::regex_replace(text, scratch, "#");
  return std::regex_replace(text, processors, "CPU #");
}

/// The words of a page, without pictures, styles and tags. The name of a device decides where its
/// line is broken.
std::string words_of_page(const std::string& page) {
  std::string words;
  for (std::size_t at = 0; at < page.size();) {
    const std::size_t tag = page.find('<', at);
    words += page.substr(at, tag - at) + "\n";
    if (tag == page.npos) break;
    std::string end = ">";
    for (const char* inner : {"style", "script", "svg"})
      if (page.compare(tag + 1, std::string(inner).size(), inner) == 0 &&
          !page.starts_with("<?xml"))
        end = "</" + std::string(inner) + ">";
    const std::size_t past = page.find(end, tag);
    at = past == page.npos ? page.size() : past + end.size();
  }
  static const std::regex device(R"(CPU[^,;]*,\s*\d+\s+threads?,\s*fp32)");
  return std::regex_replace(words, device, "CPU, 1 thread, fp32");
}

class Said {
 public:
  explicit Said(std::vector<std::string> folders) : folders_(std::move(folders)) {
    folders_.insert(folders_.begin(), FOVEA_ASSETS);
  }
  void run(const Words& words) {
    std::string line = "$ fovea";
    for (const std::string& word : words) line += " " + word;
    lines_.push_back(masked(line, folders_));
    const Ended ended = run_program(words);
    lines_.push_back("status " + std::to_string(ended.status));
    const bool is_json = ended.out.starts_with("{") || ended.out.starts_with("[");
    if (is_json && json::accept(ended.out)) {
      std::vector<std::string> values;
      flatten(values, "", ended.json());
      for (const std::string& value : values) lines_.push_back(masked(value, folders_));
    } else {
      put(ended.out);
    }
    lines_.push_back("-");
    put(ended.err);
  }
  /// The values of a JSON file, or the words of a page.
  void file(const std::string& path) {
    lines_.push_back("file " + masked(path, folders_));
    const std::string text = read_bytes(path);
    if (json::accept(text)) {
      std::vector<std::string> values;
      flatten(values, "", json::parse(text));
      for (const std::string& value : values) lines_.push_back(masked(value, folders_));
      return;
    }
    put(words_of_page(text));
  }
  void check(const std::string& name) const { check_kept("cli/said/" + name + ".txt", lines_); }

 private:
  void put(const std::string& text) {
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);)
      if (!line.empty() && line.find('\r') == line.npos && !is_timing(line))
        lines_.push_back(masked(line, folders_));  // no progress
  }
  std::vector<std::string> folders_, lines_;
};

}  // namespace

TEST_CASE("what commands print of heads is as it was") {
  const TemporaryDirectory folder;
  Said said({folder.path()});
  const std::string fit = folder / "fit.safetensors", kept = folder / "kept.safetensors";
  const std::vector<Words> commands{
      {"info", heads},
      {"info", "synthetic:golden"},
      {"compute", heads, "--variant", "h1d"},
      {"compute", heads, "--variant", "tf", "--head", "1", "--causal", "--scale", "0.3"},
      {"compute", heads, "--variant", "hyper", "--no-metrics", "--seed", "3"},
      {"compute", heads, "--variant", "moba", "-o", kept, "--kept", "blocks", "--dense"},
      {"info", kept},
      {"compute", kept, "--variant", "imported"},
      {"rankmap", heads, "--variant", "exact", "--variant", "h1d", "--leaf", "8"},
      {"rankmap", heads, "--of", "error", "--variant", "window", "--leaf", "8", "--relative"},
      {"fit", heads, "--variant", "tf", "--steps", "3", "--head", "0", "-o", fit, "--validate",
       heads},
      {"info", fit},
      {"fit", heads, "--variant", "tf", "--steps", "4", "--head", "0", "-o", fit, "--resume", fit},
      {"pareto", heads, "--variant", "window", "--variant", "h1d", "--settings", "4"},
      {"heads", heads, "--variant", "window", "--variant", "h1d", "--settings", "4"},
      {"heads", heads, "--variant", "window", "--cost", "0.01", "--settings", "4"},
      {"heads", heads, "--measures"},
      {"heads", heads, "--triage", "--causal"},
      {"spans", heads, "--variant", "window", "--span", "a=0:9", "--span", "b=20:40"},
      {"spans", heads, "--variant", "window", "--frames", "16"},
      {"spans", "synthetic:golden", "--sinks"},
      {"render", heads, "--variant", "h1d", "--view", "heatmap", "--view", "cost", "-o",
       folder / "f.svg", "--data", folder / "f.json"},
      {"report", heads, "--variant", "h1d", "--variant", "window", "-o", folder / "r.html"}};
  for (const Words& command : commands) {
    said.run(command);
    const std::string& name = command.front();
    if (name != "render" && name != "report" && name != "fit")
      said.run(joined(command, {"--json"}));
    if (name == "heads") said.run(joined(command, {"--csv"}));
  }
  said.check("heads");
}

TEST_CASE("what commands print of texts, models and variants is as it was") {
  const TinyTextModel model;
  const TemporaryDirectory folder;
  const TemporaryDirectory one, two;
  for (const TemporaryDirectory* inputs : {&one, &two}) inputs->write("1.txt", "the cat sat. a b");
  two.write("2.txt", "a b c the cat");
  Said said({model.folder(), folder.path(), one.path(), two.path()});
  const std::string policy = folder / "policy.json";
  const Words text{model.folder(), "--text", "the cat sat. a b"};
  for (const Words& command :
       std::vector<Words>{joined({"info"}, text),
                          joined({"effect", "--variant", "window", "--rounds", "0"}, text),
                          joined({"effect", "--variant", "window", "--rounds", "0", "--sensitivity",
                                  "--layer-curve", "--heads", "1"},
                                 text),
                          joined({"effect", "--variant", "window", "--variant", "fixed", "--rounds",
                                  "0", "--loss", "100", "-o", policy},
                                 text),
                          joined({"effect", "--policy", policy, "--rounds", "0"}, text),
                          joined({"spans", "--sinks", "--variant", "window"}, text),
                          joined({"heads", "--measures"}, text),
                          {"variants"},
                          {"variants", "h1d", "tf", "moba"},
                          {"effect", model.folder(), "--input", one.path(), "--variant", "window",
                           "--rounds", "0"},
                          {"effect", model.folder(), "--input", two.path(), "--variant", "window",
                           "--rounds", "0"},
                          {"heads", model.folder(), "--input", two.path(), "--measures"},
                          {"paper"},
                          {"paper", "list"},
                          {"info", FOVEA_ASSETS "/text/fovea.txt", "--content"},
                          {"info", FOVEA_ASSETS "/image/cat.jpg", "--content", "--patch", "32"}}) {
    said.run(command);
    said.run(joined(command, {"--json"}));
  }
  said.check("models");
}

TEST_CASE("what figures' numbers, reports and tables hold is as it was") {
  const TemporaryDirectory folder;
  Said said({folder.path()});
  const std::string numbers = folder / "f.json", report = folder / "r.html",
                    figure = folder / "f.svg";
  const Words variants{"--variant", "h1d", "--variant", "tf", "--variant", "moba", "--causal"};
  Words render =
      joined({"render", heads, "-o", figure, "--data", numbers, "--no-session"}, variants);
  for (const char* view : {"heatmap", "error", "tiles", "mask", "selection", "reach", "rank",
                           "level", "spread", "tree", "row", "output", "cost"})
    render = joined(render, {"--view", view});
  said.run(render);
  said.file(numbers);
  said.file(figure);
  for (const char* view : {"error", "row", "tree", "cost"}) {
    const std::string table = folder / "one.csv";
    said.run({"render", heads, "--variant", "tf", "--view", view, "-o", figure, "--data", table});
    if (std::filesystem::exists(table)) said.file(table);
    std::filesystem::remove(table);
  }
  said.run(joined({"report", heads, "-o", report}, variants));
  said.file(report);
  said.run(
      {"report", FOVEA_ASSETS "/text/fovea.txt", "--content", "--variant", "window", "-o", report});
  said.file(report);
  said.check("files");
}

TEST_CASE("the numbers of papers are as they were") {
  Said said({});
  for (const char* figure :
       {"rank-map", "hierarchy-cost", "sparse-patterns", "summary-columns", "exact-tree",
        "sampled-sums", "column-spread", "gradient-norms", "leaf-distributions"})
    for (const Words& form : {Words{}, {"--json"}}) said.run(joined({"paper", figure}, form));
  said.check("papers");
}

TEST_CASE("what commands print of captures of models is as it was") {
  Said said({FOVEA_TESTS});
  const TemporaryDirectory folder;
  for (const auto& entry :
       std::set<std::filesystem::path>(std::filesystem::directory_iterator(FOVEA_TESTS "/captures"),
                                       std::filesystem::directory_iterator()))
    if (entry.extension() == ".safetensors") {
      said.run({"info", entry.string()});
      said.run({"info", entry.string(), "--json"});
      said.run({"compute", entry.string(), "--variant", "exact", "--head", "0"});
      said.run({"compute", entry.string(), "--variant", "imported", "--head", "0", "--json"});
    }
  said.check("captures");
}

TEST_CASE("what a sweep prints and writes is as it was") {
  const TemporaryDirectory folder;
  Said said({folder.path()});
  const std::string plan = folder.write(
      "a-plan.json",
      R"({"sources": ["synthetic:gaussian?n=16&d=4"], "variants": ["exact", "window"], "rounds": 0})");
  const std::string out = folder / "out";
  for (const Words& command :
       std::vector<Words>{{"sweep", plan, "--dry-run"},
                          {"sweep", plan, "-o", out, "--shard", "1/2"},
                          {"sweep", plan, "-o", out, "--shard", "2/2"},
                          {"sweep", "--merge", out},
                          {"sweep", plan, "-o", folder / "whole", "--plot",
                           "multiply_adds:output_rel_fro", "--figure", folder / "f.svg"},
                          {"sweep", plan, "-o", folder / "whole"}})
    said.run(command);
  said.check("sweep");
}

TEST_CASE("the messages of wrong command lines are as they were") {
  const TinyTextModel model;
  const TemporaryDirectory folder;
  Said said({model.folder(), folder.path()});
  const Words text{model.folder(), "--text", "the cat"};
  const std::string plan = folder.write(
      "a-plan.json", R"({"sources": ["synthetic:golden"], "variants": ["exact"], "rounds": 0})");
  const std::string written = folder.write("written.safetensors", "x");
  const std::string svg = folder / "f.svg";
  const Words render{"render", heads, "--variant", "h1d", "-o", svg};
  for (const Words& command : std::vector<Words>{
           {"info"},
           {"info", ""},
           {"compute"},
           {"compute", heads},
           {"nonesuch"},
           {heads, "nonesuch"},
           {"compute", heads, "--variant", "exact", "--layer", "3"},
           {"compute", heads, "--variant", "exact", "--head", "2"},
           {"compute", heads, "--variant", "exact", "--head", "-1"},
           {"compute", heads, "--variant", "h1d", "--set", "block"},
           {"compute", heads, "--variant", "h1d", "--set", "nonesuch=3"},
           {"compute", heads, "--variant", "h1d", "--set", "block=3"},
           {"compute", heads, "--variant", "exact", "--seed", "-1"},
           {"compute", heads, "--variant", "exact", "--kept", "pairs"},
           {"compute", heads, "--variant", "exact", "--kept-block", "4"},
           {"compute", heads, "--variant", "exact", "--kept", "blocks", "--kept-block", "1,2,3",
            "-o", svg},
           {"compute", heads, "--variant", "exact", "--dense"},
           {"compute", heads, "--variant", "exact", "-o", folder / "out.txt"},
           {"compute", heads, "--variant", "exact", "--scale", "x"},
           {"compute", heads, "--variant", "exact", "--scale", "0"},
           {"compute", heads, "--variant", "exact", "--window", "0"},
           {"compute", heads, "--variant", "exact", "--window", "-3"},
           {"compute", heads, "--variant", "exact", "--window", "0x3"},
           {"compute", heads, "--variant", "exact", "--window", "+3", "--no-metrics"},
           {"compute", heads, "--variant", "exact", "--threads", "-1"},
           {"compute", heads, "--variant", "exact", "--softcap", "-1"},
           {"compute", heads, "--variant", "exact", "--causal", "--no-causal"},
           {"compute", heads, "--variant", "exact", "--memory", "1"},
           {"compute", heads, "--variant", "exact", "--memory", "much"},
           {"compute", heads, "--variant", "exact", "--threads", "2000"},
           {"compute", heads, "--variant", "exact", "--text", "a"},
           {"compute", heads, "--variant", "exact", "--max-tokens", "5"},
           {"compute", heads, "--variant", "exact", "--order", "random"},
           {"compute", heads, "--variant", "exact", "--layout", "[n]"},
           {"compute", heads, "--variant", "imported"},
           joined({"compute", "--variant", "exact", "--patch", "4"}, text),
           joined({"compute", "--variant", "exact", "--order", "hilbert"}, text),
           {"compute", FOVEA_ASSETS "/text/fovea.txt", "--variant", "exact",
            "--one-token-per-line"},
           {"fit", heads, "--variant", "h1d", "-o", folder / "fit.safetensors"},
           {"fit", heads, "--variant", "tf", "-o", written},
           {"fit", heads, "--variant", "tf", "-o", folder / "fit.txt"},
           {"rankmap", heads, "--leaf", "0"},
           {"rankmap", heads, "--partition", "none"},
           {"rankmap", heads, "--of", "nothing"},
           joined(render, {"--view", "nonesuch"}),
           joined(render, {"--view", "rank", "--estimate"}),
           joined(render, {"--width", "5"}),
           joined(render, {"--width", "0.1in"}),
           joined(render, {"--font", "No Such Font"}),
           joined(render, {"--preset", "nonesuch"}),
           joined(render, {"--colormap", "pink"}),
           joined(render, {"--data", folder / "f.txt"}),
           joined(render, {"--view", "heatmap", "--view", "error", "--data", folder / "f.csv"}),
           {"render", heads, "--variant", "h1d", "-o", folder / "f.gif"},
           {"render", heads, "--variant", "nonesuch", "-o", svg},
           {"report", heads, "--variant", "h1d", "-o", folder / "r.txt"},
           {"pareto", heads, "--x", "nonesuch"},
           {"pareto", heads, "--y", "nonesuch"},
           {"pareto", heads, "--y", "loss"},
           joined({"pareto", "--y", "loss", "--causal"}, text),
           joined({"pareto", "--y", "loss", "--learn", "3"}, text),
           joined({"pareto", "--y", "loss", "--x", "z_bytes"}, text),
           {"heads", heads, "--within", "0.1", "--cost", "0.1"},
           {"heads", heads, "--measures", "--triage"},
           {"heads", heads, "--budget", "0.1"},
           {"heads", heads, "--json", "--csv"},
           {"heads", heads, "--triage", "-o", folder / "t.json"},
           {"spans", heads, "--span", "a"},
           {"spans", heads, "--span", "a=5:2"},
           {"spans", heads, "--span", "a=0:4,b=4:8"},
           {"spans", heads, "--span", "a=0:4", "--span", "a=6:8"},
           {"spans", heads, "--span", "a=0:400"},
           {"spans", heads, "--frames", "7"},
           {"effect", heads, "--variant", "window"},
           joined({"effect"}, text),
           joined({"effect", "--variant", "window", "--policy", plan}, text),
           joined({"effect", "--policy", plan, "--sensitivity"}, text),
           joined({"effect", "--policy", plan, "--heads", "1"}, text),
           joined({"effect", "--policy", plan, "--seed", "1"}, text),
           joined({"effect", "--policy", plan}, text),
           joined({"effect", "--variant", "window", "--variant", "h1d"}, text),
           joined({"effect", "--variant", "window?width"}, text),
           joined({"effect", "--variant", "window", "--heads", "7"}, text),
           joined({"effect", "--variant", "window", "-o", folder / "e.txt"}, text),
           joined({"effect", "--variant", "window", "--loss", "0.000001", "--rounds", "0"}, text),
           {"paper", "nonesuch"},
           {"paper", "list", "-o", svg},
           {"paper", "column-growth", "--model", model.folder()},
           {"paper", "replaced-layers", "--longest", "512"},
           {"paper", "replaced-layers", "--model", heads},
           {"sweep"},
           {"sweep", plan},
           {"sweep", plan, "-o", folder / "out", "--plot", "x"},
           {"sweep", plan, "-o", folder / "out", "--plot", "x", "--figure", svg},
           {"sweep", plan, "-o", folder / "out", "--plot", "x:y", "--figure", folder / "f.gif"},
           {"sweep", plan, "-o", folder / "out", "--plot", "time_ms:output_rel_fro", "--figure",
            svg},
           {"sweep", plan, "-o", folder / "out", "--shard", "3/2"},
           {"sweep", plan, "-o", folder.path()},
           {"sweep", "--merge", folder / "nowhere"},
           {"bench", "--layer", "0"},
           {"bench", "--n", "0"},
           {"describe", "nonesuch"},
           {"self-test", "--precision", "fp8"},
           {"variants", "nonesuch"}})
    said.run(command);
  said.check("messages");
}

TEST_CASE("the help, the manual page and completions are as they were") {
  Said said({});
  for (const char* command :
       {"info", "variants", "compute", "fit", "rankmap", "render", "report", "pareto", "heads",
        "spans", "effect", "paper", "sweep", "bench", "describe", "self-test", "serve"})
    said.run({command, "--help"});
  said.run({"--help"});
  for (const char* format : {"bash", "zsh", "fish", "man", "json"}) said.run({"describe", format});
  said.check("help");
}

TEST_CASE("law: bench says of each stage from which time to which it is") {
  const Ended ended =
      run_program({"bench", "--n", "64", "--d", "8", "--variant", "h1d", "--repeat", "3"});
  REQUIRE(ended.status == 0);
  std::istringstream lines(ended.out);
  int stages = 0;
  static const std::regex stage(R"((plan|apply) .*[0-9])");
  for (std::string line; std::getline(lines, line);)
    if (std::regex_search(line, stage) && line.find("variant") == line.npos) {
      CAPTURE(line);
      CHECK(line.find("s - ") != line.npos);
      ++stages;
    }
  CHECK(stages > 1);
}
