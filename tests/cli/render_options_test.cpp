// Each option of `fovea render` in each format: the figure changes, or it is said here why not.
#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "cli/option_words.h"
#include "model_elsewhere.h"
#include "session_fields.h"
#include "tiny_text_model.h"
#include "views/views.h"

using namespace fovea;
using namespace fovea::test;

namespace {

constexpr std::array formats{"png", "svg", "pdf", "pgf"};

/// Names and bytes of all that a figure consists of; nothing where it is refused.
std::map<std::string, std::string> figure_of(const Words& words, const std::string& format) {
  const TemporaryDirectory folder;
  const Ended ended = run_program(
      joined({"render", "--backend", "cpu", "-o", folder / ("figure." + format)}, words));
  CAPTURE(ended.err);
  CHECK((ended.status == 0 || ended.status == 3));
  std::map<std::string, std::string> files;
  for (const std::string& name : folder.files()) files[name] = read_bytes(folder / name);
  return files;
}

struct Row {
  Words option;
  Words base;                    // the other words; none means those of the usual figure
  std::set<std::string> not_in;  // formats in which the figure stays as it is
};

}  // namespace

TEST_CASE("law: each option of render changes the figure in each format that it applies to") {
  Sources sources;
  const std::string kept = sources.folder / "kept.safetensors",
                    others = sources.folder / "others.safetensors";
  std::vector<OutTensor> tensors;
  sources.add(tensors, "", 4);
  tensors.push_back({"kept", {4, 4}, std::vector<float>(16, 1.0f)});
  write_safetensors(kept, tensors, {});
  write_safetensors(others, {OutTensor{"kept", {2, 2}, std::vector<float>{1, 0, 0, 1}}}, {});
  const TinyTextModel model;
  const ModelElsewhere elsewhere;
  const std::string cat = model.file("cat.txt", "the cat sat"),
                    letters = model.file("letters.txt", "a b c");
  const Words look{"--variant", "h1d",   "--view", "heatmap",     "--view",
                   "error",     "--dpi", "60",     "--no-session"};
  const Words usual = joined({"synthetic:gaussian?n=24&d=8&heads=3"}, look);
  const Words with_session(usual.begin(), usual.end() - 1);
  const std::set<std::string> all(formats.begin(), formats.end());
  const auto of = [&](const std::string& source, const Words& more = {}) {
    return joined(joined({source}, more), look);
  };
  const Words in_venue = joined(usual, {"--preset", "icml"}),
              with_exact = joined(usual, {"--variant", "exact"});
  const Words drawn_features{usual[0], "--variant", "performer", "--no-session"};
  const Words tokens_near{usual[0], "--variant", "strided", "--no-session"};
  const Words long_head{"synthetic:clusters?n=8193&d=1", "--variant", "exact", "--no-session"};
  const Words image{FOVEA_ASSETS "/image/retina.jpg", "--content", "--variant", "strided",
                    "--no-session"};
  const Words ranks = joined(usual, {"--view", "rank"});
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
      {{"--order", "hilbert"}, of("synthetic:gaussian?n=24&d=8"), {}},
      {{"--tensors", sources.cube, "--one-token-per-line"}, of(sources.text, {}), {}},
      {{"--content"}, of(model.file("short.txt", "the cat sat on the mat")), {}},
      {{"--one-token-per-line"}, of(sources.text, {"--content"}), {}},
      {{"--patch", "32"}, joined(image, {"--max-side", "128"}), {}},
      {{"--max-side", "64"}, joined(image, {"--patch", "16"}), {}},
      {{"--bf16"}, of(sources.bits.path()), {}},
      {{"--mask", others}, of(kept, {"--variant", "imported"}), {}},
      {{"--max-tokens", "4"}, of(model.folder(), {"--text", "the cat sat"}), {}},
      {{"--decoder-text", "more"},
       of(elsewhere.folder(), {"--text", "one two three", "--python", elsewhere.python()}),
       {}},
      {{"--width", "5in"}, {}, {}},
      {{"--height", "6in"}, {}, {}},
      {{"--dpi", "72"}, {usual[0], "--variant", "h1d", "--no-session"}, {}},
      {{"--preset", "icml"}, {}, {}},
      {{"--font", "DejaVu Serif"}, {}, {"pgf"}},  // the document has the letters
      {{"--font-size", "9"}, {}, {}},
      {{"--letters"}, {}, {}},
      {{"--captions", "full"}, {}, {}},
      {{"--no-footer"}, {}, {}},
      {{"--footer"}, in_venue, {}},
      {{"--no-empty-panels"}, with_exact, {}},
      {{"--empty-panels"}, joined(with_exact, {"--preset", "icml"}), {}},
      {{"--row-names"}, {}, {}},
      {{"--no-row-names"}, in_venue, {}},
      {{"--title", "A title"}, {}, {}},
      {{"--colormap", "magma"}, {}, {}},
      {{"--norm", "linear"}, {}, {}},
      {{"--pool", "max"},
       {"synthetic:clusters?n=2048&d=1", "--variant", "window", "--no-session"},
       {}},
      {{"--error", "absolute"}, {}, {}},
      {{"--mask-block", "4"}, joined(usual, {"--view", "mask"}), {}},
      {{"--tile-error", "share"}, joined(usual, {"--view", "tiles"}), {}},
      {{"--tile-queries", "3"}, joined(usual, {"--view", "tiles"}), {}},
      {{"--tile-keys", "3"}, joined(usual, {"--view", "tiles"}), {}},
      {{"--selection-strip", "mass"},
       {"synthetic:clusters?n=64&d=4", "--variant", "moba", "--view", "selection", "--no-session"},
       {}},
      {{"--rank-of", "logits"}, ranks, {}},
      {{"--rank-tolerance", "0.3"}, ranks, {}},
      {{"--rank-partition", "uniform"}, ranks, {}},
      {{"--rank-leaf", "4"}, ranks, {}},
      {{"--rank-colour", "storage"}, ranks, {}},
      {{"--no-session"}, with_session, {}},
      {{"--made-by", "a script"}, with_session, {}},
      {{"--data", numbers}, {}, all},      // a file of its own
      {{"--precision", "fp32"}, {}, all},  // the only one of the CPU
      {{"--threads", "2"}, {}, all},       // the same bits
      {{"--memory", "1G"}, {}, all},       // a limit
  };
  // What else there is than the CPU depends on the machine.
  std::set<std::string> known{"-h",       "--help",    "--help-all", "-o",
                              "--output", "--backend", "--python",   "--trust-remote-code"};
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
  // A model reads a text or a file: there is no figure without.
  for (const auto& [option, one, other] :
       {std::tuple{"--text", std::string("the cat sat"), std::string("a b c")},
        std::tuple{"--input", cat, letters}}) {
    known.insert(option);
    for (const std::string format : formats)
      CHECK(figure_of(of(model.folder(), {option, one}), format) !=
            figure_of(of(model.folder(), {option, other}), format));
  }
  CHECK(std::filesystem::exists(numbers));
  CHECK(options_of("render") == known);  // a new option needs a row
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
  standard.views = {find_view("heatmap")};
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
    given.validated_on.clear();  // no figure shows a validation
    for_fields<Session>([&](auto field) {
      CAPTURE(field.value);
      CHECK(std::get<field.value>(fields_of(carried)) == std::get<field.value>(fields_of(given)));
    });
  });
}
