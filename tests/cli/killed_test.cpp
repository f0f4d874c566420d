// A command that is killed at any time leaves the old file or the whole new one.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "cli/program.h"
#include "nameless_files.h"

using namespace fovea::test;

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Whether the tensors that the header names are all there and nothing else.
bool is_whole_safetensors(const std::string& bytes) {
  std::uint64_t length = 0, end = 0;
  if (bytes.size() < sizeof length) return false;
  std::memcpy(&length, bytes.data(), sizeof length);
  const auto header = nlohmann::json::parse(bytes.substr(sizeof length, length));
  for (const auto& [name, tensor] : header.items())
    if (name != "__metadata__") end = std::max(end, tensor["data_offsets"][1].get<std::uint64_t>());
  return bytes.size() == sizeof length + length + end;
}

/// Results and reports hold times, and a fit that is killed holds an earlier step.
bool is_whole(const std::string& file, const std::string& bytes, const std::string& expected) {
  if (file.ends_with(".safetensors")) return is_whole_safetensors(bytes);
  if (file.ends_with(".html")) return bytes.ends_with("</html>\n");
  return bytes == expected;
}

bool is_part(const std::string& name) {
  return name.starts_with(".fovea-") && name.ends_with(".part");
}

}  // namespace

TEST_CASE("a command that is killed at any time leaves the old file or the new one") {
  const std::string head = "synthetic:gaussian?n=256&d=16&heads=2";
  for (const std::vector<std::string>& command : std::vector<std::vector<std::string>>{
           {"compute", head, "--variant", "h1d", "-o", "z.safetensors"},
           {"fit", head, "--variant", "tf", "--steps", "30", "-o", "tree.safetensors"},
           {"render", head, "--variant", "exact", "-o", "f.png"},
           {"render", head, "--variant", "exact", "-o", "f.pdf"},
           {"render", head, "--variant", "exact", "-o", "f.svg"},
           {"report", head, "-o", "r.html"}}) {
    const TemporaryDirectory directory;
    std::vector<std::string> arguments = command;
    const std::string file = directory / command.back();
    arguments.back() = file;
    CAPTURE(command.front() + ' ' + command.back());
    const auto began = Clock::now();
    const Ended whole = run_program(arguments);
    CAPTURE(whole.err);
    REQUIRE(whole.status == 0);
    const double seconds = seconds_since(began);
    const std::string complete = read_bytes(file);
    constexpr int times = 8;
    const bool replaces = command.front() != "fit";  // which refuses to
    for (int time = 1; time <= times; ++time) {
      std::filesystem::remove(file);
      if (replaces) directory.write(command.back(), "precious");
      Running running(arguments);
      // The last part of a run writes: more kills there than at its beginning.
      const double share = 1 - 0.6 * (times - time) / times;
      std::this_thread::sleep_for(std::chrono::duration<double>(share * seconds));
      running.signal(SIGKILL);
      running.wait();
      const bool there = std::filesystem::exists(file);
      CHECK((there || !replaces));
      const std::string left = there ? read_bytes(file) : "";
      CHECK((!there || left == "precious" || is_whole(file, left, complete)));
      // Killed between naming the new file and replacing the old one, it leaves the new one's name,
      // which the next that replaces a file removes.
      const auto files = directory.files();
      const auto parts = static_cast<std::size_t>(std::ranges::count_if(files, is_part));
      CHECK(parts <= 1);
      if (has_nameless_files()) CHECK(files.size() == there + parts);
    }
  }
}
