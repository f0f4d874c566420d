// Each option of `fovea render` in each format: the figure changes, or it is said here why not.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <map>
#include <set>
#include <sstream>

#include "cli/program.h"
#include "data/random.h"
#include "io/npy.h"
#include "io/safetensors_writer.h"
#include "session_fields.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Words = std::vector<std::string>;

constexpr std::array formats{"png", "svg", "pdf", "pgf"};

Words joined(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

/// Names and bytes of all that a figure consists of; nothing where it is refused.
std::map<std::string, std::string> figure_of(const Words& words, const std::string& format) {
  const TemporaryDirectory folder;
  const Ended ended = run_program(joined({"render", "-o", folder / ("figure." + format)}, words));
  CAPTURE(ended.err);
  CHECK((ended.status == 0 || ended.status == 3));
  std::map<std::string, std::string> files;
  for (const std::string& name : folder.files()) files[name] = read_bytes(folder / name);
  return files;
}

struct Sources {
  TemporaryDirectory folder, bits;
  std::string layers = folder / "layers.safetensors", cube = folder / "cube.safetensors",
              not_finite = folder / "nan.safetensors";
  std::string text = folder.write("lines.txt", "to be\nor not\nto be at all\nthat is it\n");

  Sources() {
    std::vector<OutTensor> tensors;
    for (const char* layer : {"layer0.", "layer1."}) add(tensors, layer, 6);
    write_safetensors(layers, tensors, {{"causal", "true"}});
    tensors.clear();
    add(tensors, "", 4);  // heads, tokens and features: each order of the axes fits
    write_safetensors(cube, tensors, {});
    std::get<0>(tensors[0].values)[5] = NAN;
    write_safetensors(not_finite, tensors, {});
    // Read as fp16 or as bfloat16 these are numbers from 1 to 2.
    std::string numbers;
    for (int at = 0; at < 24; ++at) numbers += {char(8 * at), char(0x3c + at % 3)};
    for (const char* name : {"q", "k", "v"})
      bits.write(name + std::string(".npy"), npy_bytes(npy_dict("<u2", "(6, 4)"), numbers));
  }

  void add(std::vector<OutTensor>& tensors, const std::string& prefix, Index n) {
    for (const char* name : {"q", "k", "v"}) {
      std::vector<float> values(static_cast<std::size_t>(16 * n));
      for (float& value : values) value = static_cast<float>(random.normal());
      tensors.push_back({prefix + name, {4, n, 4}, std::move(values)});
    }
  }
  Random random{1, 1};
};

struct Row {
  Words option;
  Words base;                    // the other words; none: of the usual figure
  std::set<std::string> not_in;  // formats in which the figure stays as it is
};

/// The names of the options that --help tells.
std::set<std::string> options_in_help() {
  std::istringstream help(run_program({"render", "--help"}).out);
  std::set<std::string> names;
  for (std::string line; std::getline(help, line);)
    if (line.starts_with("  -"))
      for (std::istringstream all(line.substr(2, line.find(' ', 2) - 2));
           std::getline(all, line, ',');)
        names.insert(line);
  return names;
}

}  // namespace

TEST_CASE("law: each option of render changes the figure in each format that it applies to") {
  const Sources sources;
  const Words look{"--variant", "h1d",    "--view", "heatmap",     "--view",
                   "error",     "--view", "rank",   "--no-session"};
  const Words usual = joined({"synthetic:gaussian?n=24&d=8&heads=3"}, look);
  const Words with_session(usual.begin(), usual.end() - 1);
  const std::set<std::string> all(formats.begin(), formats.end());
  const auto of = [&](const std::string& source, const Words& more = {}) {
    return joined(joined({source}, more), look);
  };
  const Words drawn_features{usual[0], "--variant", "performer", "--no-session"};
  const Words tokens_near{usual[0], "--variant", "strided", "--no-session"};
  const Words long_head{"synthetic:clusters?n=8193&d=1", "--variant", "exact", "--no-session"};
  const Words image{FOVEA_ASSETS "/image/retina.jpg", "--variant", "strided", "--no-session"};
  const std::string numbers = sources.folder / "numbers.json";
  const std::vector<Row> rows{
      {{"--variant", "window"}, {}, {}},
      {{"--view", "row"}, {}, {}},
      {{"--set", "block=4"}, {}, {}},
      {{"--seed", "3"}, drawn_features, {}},
      {{"--layer", "1"}, of(sources.layers), {}},
      {{"--head", "2"}, {}, {}},
      {{"--causal"}, {}, {}},
      {{"--no-causal"}, of(sources.layers), {}},
      {{"--scale", "0.3"}, {}, {}},
      {{"--window", "5"}, tokens_near, {}},
      {{"--softcap", "0.5"}, {}, {}},
      {{"--allow-non-finite"}, of(sources.not_finite), {}},
      {{"--estimate"}, long_head, {}},
      {{"--layout", "[n,H,d]"}, of(sources.cube), {}},
      {{"--tensors", sources.cube}, of(sources.text, {"--one-token-per-line"}), {}},
      {{"--one-token-per-line"}, of(sources.text), {}},
      {{"--patch", "32"}, joined(image, {"--max-side", "128"}), {}},
      {{"--max-side", "64"}, joined(image, {"--patch", "16"}), {}},
      {{"--bf16"}, of(sources.bits.path()), {}},
      {{"--width", "5in"}, {}, {}},
      {{"--height", "6in"}, {}, {}},
      {{"--dpi", "72"}, {}, {}},
      {{"--preset", "icml"}, {}, {}},
      {{"--font", "DejaVu Serif"}, {}, {"pgf"}},  // the document has the letters
      {{"--font-size", "9"}, {}, {}},
      {{"--letters"}, {}, {}},
      {{"--title", "A title"}, {}, {}},
      {{"--colormap", "magma"}, {}, {}},
      {{"--norm", "linear"}, {}, {}},
      {{"--error", "absolute"}, {}, {}},
      {{"--no-session"}, with_session, {}},
      {{"--made-by", "a script"}, with_session, {}},
      {{"--data", numbers}, {}, all},      // a file of its own
      {{"--backend", "cpu"}, {}, all},     // the only one of any machine
      {{"--precision", "fp32"}, {}, all},  // the only one of the CPU
      {{"--threads", "2"}, {}, all},       // the same bits
      {{"--memory", "1G"}, {}, all},       // a limit
  };
  std::set<std::string> known{"-h", "--help", "--help-all", "-o", "--output"};
  std::map<std::pair<Words, std::string>, std::map<std::string, std::string>> before;
  for (const Row& row : rows) {
    CAPTURE(row.option);
    known.insert(row.option.front());
    const Words& base = row.base.empty() ? usual : row.base;
    for (const std::string format : formats) {
      CAPTURE(format);
      auto& without = before[{base, format}];
      if (without.empty()) without = figure_of(base, format);
      const auto with = figure_of(joined(base, row.option), format);
      CHECK_FALSE(with.empty());
      CHECK((with == without) == row.not_in.contains(format));
    }
  }
  CHECK(std::filesystem::exists(numbers));
  CHECK(options_in_help() == known);  // a new option needs a row
}

TEST_CASE("law: a figure of a session carries the session, each of its fields alone") {
  Sources sources;
  std::vector<OutTensor> tensors;
  for (const char* layer : {"layer0.", "layer1.", "layer2."}) sources.add(tensors, layer, 64);
  const std::string source = sources.folder / "one.safetensors",
                    other = sources.folder / "two.safetensors",
                    session = sources.folder / "s.fovea.json", figure = sources.folder / "f.svg";
  for (const std::string& path : {source, other}) write_safetensors(path, tensors, {});
  const auto column = [](const char* id) {
    return Column{.variant = id, .values = values_for_length(find_variant(id), 64)};
  };
  Session standard = standard_session(source, 64), all = unlike_any_default().session;
  standard.columns = {column("exact"), column("strided")};
  standard.views = {View::heatmap};
  all.source = other;
  const Column own = all.columns.back();
  all.columns = {column("exact"), column("strided"), own};
  all.columns.back().held->source = other;
  all.columns.back().held->layer = 1;
  for_fields<Session>([&](auto place) {
    Session given = standard;
    std::get<place.value>(fields_of(given)) = std::get<place.value>(fields_of(all));
    CAPTURE(place.value);
    write_session(session, {.session = given, .content_hash = {}, .layout = {}});
    const Ended ended = run_program({"render", session, "-o", figure});
    CAPTURE(ended.err);
    REQUIRE(ended.status == 0);
    Session carried = read_session(figure).session;
    for_fields<Session>([&](auto field) {
      CAPTURE(field.value);
      CHECK(std::get<field.value>(fields_of(carried)) == std::get<field.value>(fields_of(given)));
    });
  });
}
