// Exit statuses, messages, help and what is on standard output.
#include <doctest/doctest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "cli/program.h"
#include "messages.h"

using namespace fovea::test;

namespace {

void check_ends_with(const std::vector<std::string>& arguments, int status,
                     const std::string& says) {
  const Ended ended = run_program(arguments);
  CAPTURE(arguments);
  CAPTURE(ended.err);
  CHECK(ended.status == status);
  CHECK(ended.out.empty());
  CHECK(ended.err.starts_with("fovea: "));
  CHECK(ended.err.find(says) != std::string::npos);
}

std::string session_text(const std::string& source) {
  return R"({"fovea_session": 1, "content_sha256": "", "layer": 0, "head": 0,
      "source": ")" +
         source + R"(", "causal": null, "scale": null, "pinned_query": null,
      "columns": [{"variant": "h1d", "parameters": {"block": "2"}, "seed": 0}],
      "views": ["heatmap"], "viewport": [0, 4, 0, 4],
      "settings": {"norm": "linear", "log_floor": 1e-4, "error": "signed", "pool": "max",
        "mask_block": 2, "rank_of": "attention", "rank_leaf": 2, "rank_tolerance": 1e-2,
        "rank_partition": "hierarchy", "shared_range": true, "colormap": "viridis"}})";
}

}  // namespace

TEST_CASE("devices are listed instead of a source") {
  const Ended listed = run_program({"info", "--devices"});
  CHECK(listed.status == 0);
  CHECK(listed.out.find("Processor  CPU") != std::string::npos);
  CHECK(listed.out.find("GPU") != std::string::npos);
  check_ends_with({"info"}, 2, "SOURCE");
  check_ends_with({"info", "synthetic:golden", "--devices"}, 2, "--devices");
  check_ends_with({"info", "synthetic:golden", "--test-again"}, 2, "--devices");
}

TEST_CASE("a wrong command line ends with status 2 and says what is wrong") {
  check_ends_with({"compute", "synthetic:golden"}, 2, "--variant");
  check_ends_with({"compute", "synthetic:golden", "--variant", "nonesuch"}, 2, "nonesuch");
  check_ends_with({"compute", "synthetic:golden", "--variant", "exact", "--nonesuch"}, 2,
                  "--nonesuch");
  check_ends_with({"compute", "synthetic:golden", "--variant", "h1d", "--set", "block=3"}, 2,
                  "even");
  check_ends_with({"compute", "synthetic:golden", "--variant", "h1d", "--set", "block=0"}, 2,
                  "block");
  check_ends_with({"compute", "synthetic:golden", "--variant", "h1d", "--set", "nonesuch=1"}, 2,
                  "nonesuch");
  check_ends_with({"compute", "synthetic:golden", "--variant", "h1d", "--set", "block"}, 2,
                  "KEY=VALUE");
  check_ends_with({"compute", "synthetic:golden", "--variant", "exact", "--head", "1"}, 2,
                  "--head");
  check_ends_with({"compute", "synthetic:golden", "--variant", "exact", "--layer", "7"}, 2,
                  "--layer");
  check_ends_with({"compute", "synthetic:golden", "--variant", "exact", "--causal", "--no-causal"},
                  2, "causal");
  check_ends_with({"compute", "synthetic:golden", "--variant", "exact", "--backend", "abacus"}, 2,
                  "abacus");
  check_ends_with({"compute", "synthetic:golden", "--variant", "exact", "--precision", "fp8"}, 2,
                  "fp8");
  check_ends_with({"compute", "synthetic:golden", "--variant", "exact", "--backend", "cpu",
                   "--precision", "bf16"},
                  4, "the CPU computes in fp32");
  check_ends_with({"--backend", "cpu", "compute", "synthetic:golden", "--variant", "exact"}, 2,
                  "--backend belongs after its command");
  check_ends_with({"compute", "synthetic:golden", "--variant", "exact", "--dense"}, 2, "-o");
  check_ends_with({"compute", "synthetic:golden", "--variant", "exact", "--threads", "-1"}, 2,
                  "--threads");
  check_ends_with({"rankmap", "synthetic:golden", "--leaf", "0"}, 2, "--leaf");
  check_ends_with({"rankmap", "synthetic:golden", "--tolerance", "nan"}, 2, "--tolerance");
  check_ends_with({"render", "synthetic:golden", "-o", "picture.png", "--dpi", "0"}, 2, "--dpi");
  check_ends_with({"info", "synthetic:gaussian?n=0"}, 2, "n is 0");
  check_ends_with({"compute", "synthetic:nonesuch", "--variant", "exact"}, 2, "nonesuch");
  check_ends_with({"rankmap", "synthetic:golden", "--of", "nonesuch"}, 2, "nonesuch");
  check_ends_with({"render", "synthetic:golden", "-o", "picture.gif"}, 2, ".png");
  check_ends_with({"render", "synthetic:golden", "-o", "picture.png", "--width", "3.5"}, 2,
                  "--width");
  check_ends_with({"render", "synthetic:golden", "-o", "picture.png", "--view", "nonesuch"}, 2,
                  "nonesuch");
  check_ends_with({"render", "synthetic:golden", "-o", "picture.png", "--width", "1pt"}, 2,
                  "0.25in to 200in");
  check_ends_with({"bench", "--n", "0"}, 2, "--n");
  check_ends_with({"nonesuch"}, 2, "neither a command nor a file");
}

TEST_CASE("a seed is a whole number that fits, and a name is not empty") {
  for (const char* seed : {"-1", "1.5", "", "18446744073709551616", "1e3", "0x10"})
    check_ends_with({"compute", "synthetic:golden", "--variant", "exact", "--seed", seed}, 2,
                    "a whole number from 0 to 18446744073709551615");
  CHECK(run_program({"compute", "synthetic:golden", "--variant", "exact", "--seed",
                     "18446744073709551615", "--json"})
            .json()["seed"] == 18446744073709551615u);
  for (const char* option : {"-o", "--structure", "--layout", "--order", "--tensors"})
    check_ends_with({"compute", "synthetic:golden", "--variant", "exact", option, ""}, 2,
                    "'' found; expected a name");
  check_ends_with({"render", "synthetic:golden", "-o", ""}, 2, "'' found");
  check_ends_with({"info", ""}, 2, "'' found");
  check_ends_with({"bench", ""}, 2, "'' found");
}

TEST_CASE("bad input ends with status 3 and names the file") {
  const TemporaryDirectory scratch;
  write_bytes(scratch / "bad.safetensors", "not one");
  check_ends_with({"info", scratch / "missing.safetensors"}, 3, "missing.safetensors");
  check_ends_with({"info", scratch / "bad.safetensors"}, 3, "bad.safetensors");
  check_ends_with({"compute", "synthetic:hmatrix", "--variant", "exact"}, 3, "attention");
  check_ends_with({"render", "synthetic:hmatrix", "--view", "error", "-o", scratch / "x.png"}, 3,
                  "attention");
  check_ends_with({"compute", "synthetic:golden", "--variant", "hyper", "--structure",
                   scratch / "bad.safetensors"},
                  3, "bad.safetensors");
}

TEST_CASE("what is unavailable ends with status 4") {
  const TemporaryDirectory scratch;
  const std::string old = scratch / "old.safetensors";
  write_bytes(old, "precious");
  check_ends_with(
      {"compute", "synthetic:gaussian?n=40000&d=1", "--variant", "strided", "--dense", "-o", old},
      4, "GiB");
  check_ends_with({"compute", "synthetic:golden", "--variant", "exact", "-o",
                   scratch / "no/such/x.safetensors"},
                  4, "x.safetensors");
  CHECK(read_bytes(old) == "precious");
}

TEST_CASE("a full disk ends with status 4") {
  check_ends_with({"compute", "synthetic:golden", "--variant", "exact", "-o", "/dev/full"}, 4,
                  "/dev/full");
}

TEST_CASE("every command explains itself") {
  for (const char* command : {"info", "variants", "compute", "rankmap", "render", "bench"}) {
    const Ended ended = run_program({command, "--help"});
    CAPTURE(command);
    CHECK(ended.status == 0);
    CHECK(ended.out.find("Usage") != std::string::npos);
    CHECK(ended.err.empty());
    CHECK(ended.out.find("Excludes") == std::string::npos);
    CHECK(ended.out.find("->") == std::string::npos);
    std::istringstream lines(ended.out);
    for (std::string line; std::getline(lines, line);)
      if (line.starts_with("      ")) CHECK(line.size() <= 110);  // 100 letters, some of two bytes
  }
  CHECK(run_program({"--help"}).out.find("render") != std::string::npos);
  CHECK(run_program({"--version"}).out.starts_with("fovea "));
}

TEST_CASE("with --json standard output is one document, the numbers of which are finite or named") {
  CHECK(run_program({"info", "synthetic:golden", "--json"}).json()["layers"][0]["n"] == 8);
  const auto variants = run_program({"variants", "--json"}).json()["variants"];
  CHECK(variants[0]["id"] == "exact");
  for (const auto& variant : variants)
    for (const auto& parameter : variant["parameters"])
      for (const char* key : {"id", "label", "type", "default", "unit", "meaning"})
        CHECK(parameter.contains(key));
  const auto bench =
      run_program({"bench", "--n", "64", "--d", "8", "--heads", "2", "--repeat", "3", "--json"})
          .json();
  const auto in_papers = [](const auto& variant) { return variant["group"] == "papers"; };
  CHECK(bench["measurements"].size() ==
        static_cast<std::size_t>(std::ranges::count_if(variants, in_papers)));
  const auto all = run_program({"bench", "--n", "16", "--d", "4", "--heads", "1", "--repeat", "1",
                                "--variant", "all", "--json"})
                       .json();
  const auto has_form = [](const auto& variant) {
    return !variant["mask"].template get<std::string>().starts_with("causal; there is no other");
  };
  CHECK(all["measurements"].size() ==
        static_cast<std::size_t>(std::ranges::count_if(variants, has_form)));
  CHECK(bench["measurements"][0]["timings_ms"]["apply"]["samples"] == 6);
  CHECK(bench["measurements"][0]["speed_up"] == 1.0);
  CHECK(bench["gemm_gflops"] > 0.0);
  CHECK(bench["peak_bytes"] > 1e6);  // its libraries alone
}

TEST_CASE("figures are written in the format their name says") {
  const TemporaryDirectory scratch;
  const std::vector<std::pair<std::string, std::string>> beginnings{
      {"f.png", "\x89PNG"}, {"f.pdf", "%PDF"}, {"f.svg", "<?xml"}};
  for (const auto& [name, begin] : beginnings) {
    const Ended ended = run_program({"render", "synthetic:golden", "--view", "heatmap", "--view",
                                     "timing", "--variant", "exact", "--variant", "h1d", "--width",
                                     "88mm", "-o", scratch / name});
    CAPTURE(ended.err);
    CHECK(ended.status == 0);
    CHECK(read_bytes(scratch / name).starts_with(begin));
  }
  CHECK(run_program({"render", "synthetic:hmatrix", "--view", "rank", "-o", scratch / "r.png"})
            .status == 0);
}

TEST_CASE("figures of many columns are as wide as a page, unless the command line says otherwise") {
  const TemporaryDirectory scratch;
  const std::string figure = scratch / "f.svg";
  const auto width_of = [&](std::vector<std::string> words) {
    std::vector<std::string> all{"render", "synthetic:golden", "-o", figure};
    all.insert(all.end(), words.begin(), words.end());
    REQUIRE(run_program(all).status == 0);
    const std::string svg = read_bytes(figure);
    const auto at = svg.find("width=\"");
    REQUIRE(at != std::string::npos);
    return std::stod(svg.substr(at + 7));
  };
  const double one = width_of({"--variant", "exact"});
  CHECK(width_of({"--variant", "exact", "--variant", "h1d", "--variant", "tf"}) == one);
  CHECK(width_of({"--variant", "exact", "--variant", "h1d", "--variant", "tf", "--variant",
                  "tc"}) == doctest::Approx(2 * one));
  CHECK(width_of({}) == doctest::Approx(2 * one));  // the papers' seven variants
  CHECK(width_of({"--width", "3.5in"}) == one);
  CHECK(width_of({"--preset", "icml"}) < 2 * one);
  CHECK(width_of({"--preset", "icml", "--width", "3.5in"}) == one);
  CHECK(run_program({"render", "synthetic:golden", "-o", figure, "--width", ""}).status == 2);
}

TEST_CASE("a session file is drawn as it was saved, and as the command line says otherwise") {
  const TemporaryDirectory scratch;
  const std::string figure = scratch / "s.svg";
  const std::string session = scratch.write("s.fovea.json", session_text("synthetic:golden"));
  CHECK(run_program({"render", session, "-o", figure}).status == 0);
  CHECK(read_bytes(figure).find("H-Transformer-1D") != std::string::npos);
  CHECK(run_program({"render", session, "--variant", "hyper", "--view", "timing", "-o", figure})
            .status == 0);
  CHECK(read_bytes(figure).find("HyperAttention") != std::string::npos);
  CHECK(read_bytes(figure).find("H-Transformer-1D") == std::string::npos);
  write_bytes(session, session_text("nowhere.npz"));
  check_ends_with({"render", session, "-o", figure}, 3, "nowhere.npz");
}

TEST_CASE("a session file with numbers out of range is refused by name") {
  const TemporaryDirectory scratch;
  const std::string good = session_text("synthetic:golden");
  const auto refuse = [&](const std::string& part, const std::string& by, const char* says) {
    std::string text = good;
    REQUIRE(text.find(part) != std::string::npos);
    text.replace(text.find(part), part.size(), by);
    const std::string path = scratch.write("bad.fovea.json", text);
    for (const char* word : {"bad.fovea.json", says})
      check_ends_with({"render", path, "-o", scratch / "f.png"}, 3, word);
  };
  refuse("viridis", "nonesuch", "colour map 'nonesuch'");
  refuse("\"scale\": null", "\"scale\": -1", "above 0");
  refuse("\"pinned_query\": null", "\"pinned_query\": -5", "'pinned_query' is -5");
  refuse("\"seed\": 0", "\"seed\": -1", "'seed' is -1");
  refuse("\"mask_block\": 2", "\"mask_block\": 4611686018427387904", "mask_block");
  refuse("\"rank_leaf\": 2", "\"rank_leaf\": 0", "rank_leaf");
  refuse("[0, 4, 0, 4]", "[4, 4, 0, 4]", "viewport");
  refuse("\"block\": \"2\"", "\"block\": \"3\"", "even");
  refuse(": 1,", ": 99,", "version 99");
}

TEST_CASE("what cannot be done is refused before anything is computed") {
  const TemporaryDirectory scratch;
  const std::string pipe = scratch / "pipe", large = "synthetic:gaussian?n=131072&d=64";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  check_ends_with({"info", pipe}, 3, "pipe");
  check_ends_with({"info", "/dev/zero"}, 3, "device");
  check_ends_with({"info", scratch.path()}, 3, ".npy");
  for (const char* scale : {"-1", "0", "nan", "inf"})
    check_ends_with({"compute", large, "--variant", "exact", "--scale", scale}, 2, "above 0");
  check_ends_with({"compute", large, "--variant", "exact", "-o", scratch / "z.pdf"}, 2,
                  ".safetensors");
  check_ends_with({"compute", large, "--variant", "exact", "-o", scratch / "no/z.safetensors"}, 4,
                  "z.safetensors");
  check_ends_with({"render", large, "-o", scratch / "no/z.png"}, 4, "z.png");
  check_ends_with({"bench", "--n", "64", "--head", "0"}, 2, "SOURCE");
  check_ends_with({"bench", large, "--heads", "2"}, 2, "--heads");
}

TEST_CASE("whole numbers are decimal, with leading zeros too") {
  const auto report = [](const std::vector<std::string>& arguments) {
    return document_of(arguments);
  };
  CHECK(report({"bench", "--n", "010", "--d", "08", "--variant", "exact", "--repeat", "01",
                "--json"})["n"] == 10);
  const auto computed = report({"compute", "synthetic:golden", "--variant", "exact", "--causal",
                                "--window", "010", "--seed", "010", "--json"});
  CHECK(computed["seed"] == 10);
  check_says(computed["conditions"].get<std::string>(), {"10"});
  for (const char* number : {"0x10", "0b1", "1e1", "1.0"})
    check_ends_with({"bench", "--n", number}, 2, "--n");
  check_ends_with({"bench", "--n", "0x10"}, 2, "'0x10' found; expected a whole number");
  check_ends_with({"spans", "synthetic:golden", "--span", "a=0x1:2"}, 2, "NAME=FIRST:END");
  check_ends_with({"bench", "--threads", "-01"}, 2, "--threads");
}

TEST_CASE("an unknown option is reported first, with the name that is nearest") {
  check_ends_with({"compute", "synthetic:golden", "--varian", "exact"}, 2,
                  "unknown option --varian; did you mean --variant?");
  check_ends_with({"compute", "synthetic:golden", "--variant=exact", "--haed=3"}, 2,
                  "unknown option --haed; did you mean --head?");
  check_ends_with({"info", "--nonesuch"}, 2, "unknown option --nonesuch\n");
  check_ends_with({"compute", "synthetic:golden", "-variant", "h1d"}, 2,
                  "unknown option -variant; did you mean --variant?");
  check_ends_with({"info", "synthetic:golden", "-json"}, 2,
                  "unknown option -json; did you mean --json?");
}

TEST_CASE("a date that is no number is reported, and left out") {
  const TemporaryDirectory scratch;
  ::setenv("SOURCE_DATE_EPOCH", "banana", 1);
  const Ended ended = run_program({"render", "synthetic:golden", "--variant", "exact", "--view",
                                   "heatmap", "-o", scratch / "f.pdf"});
  ::unsetenv("SOURCE_DATE_EPOCH");
  CHECK(ended.status == 0);
  check_says(ended.err, {"SOURCE_DATE_EPOCH is \"banana\""});
  CHECK_FALSE(contains(read_bytes(scratch / "f.pdf"), "CreationDate"));
}

TEST_CASE("a session is no source of info, and the message says what opens it") {
  const TemporaryDirectory scratch;
  const std::string session = scratch.write("s.fovea.json", session_text("synthetic:golden"));
  check_ends_with({"info", session}, 3,
                  "is a session of Fovea; expected a source: fovea render or");
}
