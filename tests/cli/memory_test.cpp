// --memory: what needs more is refused with status 4, and a sweep goes on.

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "cli/program.h"
#include "io/safetensors.h"
#include "messages.h"

using namespace fovea::test;

namespace {

// 47 MiB as tensors: below what is asked for; opened twice over, 94.
const std::string wide_head = "synthetic:gaussian?n=16000&d=256";
const std::string narrow_head = "synthetic:gaussian?n=16000&d=4";

std::string repeated(const std::string& text, int times) {
  std::string out;
  for (int i = 0; i < times; ++i) out += text;
  return out;
}

/// The header of a bitmap of 24 bits a pixel, without its data.
std::string bitmap_header(std::int32_t width, std::int32_t height) {
  constexpr std::uint32_t data_at = 54, size_of_rest = 40;
  return "BM" + bytes_of(data_at) + bytes_of(std::uint32_t{0}) + bytes_of(data_at) +
         bytes_of(size_of_rest) + bytes_of(width) + bytes_of(height) + bytes_of(std::uint16_t{1}) +
         bytes_of(std::uint16_t{24}) + std::string(24, '\0');
}

void check_refused(std::vector<std::string> arguments, const std::string& says,
                   const std::string& advice = "Fewer tokens need less; ") {
  arguments.insert(arguments.end(), {"--memory", "65M"});
  const Ended ended = run_program(arguments);
  CAPTURE(ended.err);
  CHECK(ended.status == 4);
  CHECK(ended.out.empty());
  CHECK(contains(ended.err, says));
  CHECK(contains(ended.err, "the budget is 65.0 MiB. " + advice + "--memory "));
}

}  // namespace

TEST_CASE("every command refuses what needs more memory than the budget, with status 4") {
  const TemporaryDirectory scratch;
  check_refused({"info", wide_head}, "fovea: " + wide_head + ": 93.8 MiB of memory needed");
  check_refused({"compute", wide_head, "--variant", "exact"}, wide_head);
  check_refused(
      {"compute", narrow_head, "--variant", "linformer", "--set", "rank=4000", "--no-metrics"},
      "projections of Linformer of 16000 tokens");
  check_refused({"render", "synthetic:golden", "--variant", "exact", "--view", "heatmap", "--width",
                 "60in", "-o", scratch / "never-written.png"},
                "a picture of ", "Fewer dots an inch need less; ");
  const TemporaryDirectory sources;
  const std::string tokens = sources.write("t.json", "[" + repeated("0,", 2000000) + "0]");
  check_refused({"info", tokens}, tokens + ", as JSON: 153 MiB of memory needed", "");
  const std::string header = R"({"__metadata__":[)" + repeated("{},", 1000000) + "0]}";
  const std::string tensors = sources.write("t.safetensors", safetensors_bytes(header, ""));
  check_refused({"info", tensors}, tensors + ", header, as JSON: 137", "");
  const std::string image = sources.write("i.bmp", bitmap_header(4000, 2400));
  std::filesystem::resize_file(image, 54 + 3 * 4000 * 2400);
  check_refused({"info", image, "--content", "--patch", "16"}, image + ": 4000 x 2400 pixels: 137",
                "Fewer pixels need less; ");
  CHECK(scratch.files().empty());
  const Ended roomy = run_program(
      {"compute", "synthetic:golden", "--variant", "exact", "--memory", "1.5 GiB", "--json"});
  CHECK(roomy.status == 0);
}

TEST_CASE("a budget that is no size is a wrong command line, and so is one before the command") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"info", "synthetic:golden", "--memory", "lots"},
        {"info", "synthetic:golden", "--memory", "63M"},
        {"--memory", "1G", "info", "synthetic:golden"}}) {
    const Ended ended = run_program(arguments);
    CAPTURE(ended.err);
    CHECK(ended.status == 2);
    CHECK(contains(ended.err, "--memory"));
  }
}

TEST_CASE(
    "an item of a sweep that needs too much memory is a row with an error, and the rest is done") {
  const TemporaryDirectory scratch;
  const nlohmann::json plan{
      {"sources", {narrow_head}},
      {"variants", {{{"variant", "linformer"}, {"set", {{"rank", {4000, 2}}}}}}},
      {"metrics", false},
      {"rounds", 0}};
  const Ended ended = run_program({"sweep", scratch.write("plan.json", plan.dump()), "-o",
                                   scratch / "results", "--memory", "65M"});
  CAPTURE(ended.err);
  CHECK(ended.status == 5);
  const std::string rows = read_bytes(scratch / "results/results.jsonl");
  CHECK(std::ranges::count(rows, '\n') == 2);
  CHECK(contains(rows, "\"error\":\"projections of Linformer of 16000 tokens: "));
  CHECK(contains(rows, "\"error\":null"));
}

TEST_CASE("a source of a sweep, and heads of a bench, that need too much memory are refused") {
  const TemporaryDirectory scratch;
  const nlohmann::json plan{{"sources", {wide_head}}, {"variants", {"exact"}}};
  const std::string path = scratch.write("plan.json", plan.dump());
  check_refused({"sweep", path, "-o", scratch / "results"}, path + ": sources[0]: " + wide_head);
  CHECK_FALSE(std::filesystem::exists(scratch / "results"));
  check_refused({"bench", "--n", "16000", "--d", "512", "--variant", "exact"},
                "Q, K and V of 1 head of 16000 tokens: 93.8 MiB of memory needed");
}
