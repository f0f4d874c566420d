// Ctrl-C ends every command that computes, at any length, and leaves nothing behind.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "cli/program.h"

using namespace fovea::test;

namespace {

/// Names of what lies in a folder and below it.
std::vector<std::string> all_files(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file()) names.push_back(entry.path().filename().string());
  std::ranges::sort(names);
  return names;
}

}  // namespace

TEST_CASE("timing: Ctrl-C ends every command within 200 ms and leaves no file behind") {
  const std::string head = "synthetic:clusters?n=131072&d=64",
                    other = "synthetic:smooth?n=16384&d=64";
  const TemporaryDirectory scratch;
  const std::string plan = scratch.write(
      "plan.json", R"({"sources": [")" + head + R"("], "variants": ["exact"], "rounds": 0})");
  const auto out = [&](const std::string& name) { return scratch / name; };
  const std::vector<std::vector<std::string>> commands{
      {"compute", head, "--variant", "exact", "-o", out("z.safetensors")},
      {"compute", head, "--variant", "linformer", "-o", out("z.safetensors")},
      {"fit", head, "--variant", "tf", "-o", out("trees.safetensors")},
      {"rankmap", other, "--partition", "uniform", "--leaf", "1024"},
      {"render", head, "--variant", "exact", "--view", "heatmap", "-o", out("figure.png")},
      {"report", head, "-o", out("report.pdf")},
      {"pareto", head, "-o", out("front.pdf")},
      {"heads", head},
      {"spans", head, "--variant", "exact"},
      {"paper", "running-time", "-o", out("paper.pdf")},
      {"sweep", plan, "-o", out("results")},
      {"bench", "--n", "131072", "--d", "64", "--variant", "all"}};
  for (const auto& command : commands)
    for (const int after : {30, 600, 1500}) {
      std::string line;
      for (const std::string& word : command) line += word + " ";
      CAPTURE(line);
      CAPTURE(after);
      Running running(command);
      std::this_thread::sleep_for(std::chrono::milliseconds(after));
      // Within 30 ms it may not have begun, and is then killed by the signal.
      if (after > 30) REQUIRE(begins(running));
      const bool begun = running.handles_interrupt();
      const Interrupted interrupted = interrupt(running);
      const Ended& ended = interrupted.ended;
      const double ms = interrupted.milliseconds;
      MESSAGE(command.front(), " after ", after, " ms: ", ms, " ms");
      CAPTURE(ended.err);
      if (begun || ended.killed_by != SIGINT) {
        CHECK(ended.status == 130);
        CHECK(ended.err.find("fovea: stopped") != std::string::npos);
      }
      CHECK(ms < 200);
      std::filesystem::remove_all(out("results"));  // a sweep goes on from there
      CHECK(all_files(scratch.path()) == std::vector<std::string>{"plan.json"});
    }
}
