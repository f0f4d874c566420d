// Ctrl-C ends every command that computes, at any length, and leaves nothing behind. How soon it
// does so is measured by tests/bench/bench_cancelling.cpp.
#include "cli/interrupt.h"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stop_token>

#include "cli/long_commands.h"
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

TEST_CASE("Ctrl-C asks for a stop before it waits for the end") {
  const pid_t child = ::fork();
  if (child == 0) {
    const fovea::Interrupt interrupt;
    const std::stop_callback asked(interrupt.token(), [] { ::_exit(7); });
    ::kill(::getpid(), SIGINT);
    for (;;) ::pause();
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 7);  // 130: it had waited first
}

TEST_CASE("Ctrl-C ends every command that has begun, and leaves no file behind") {
  const TemporaryDirectory scratch;
  for (const auto& command : long_commands(scratch))
    // As soon as the command has begun, and once it has computed for this long.
    for (const double cpu_seconds : {0.0, 0.5}) {
      CAPTURE(command.front());
      CAPTURE(cpu_seconds);
      Running running(command);
      REQUIRE(begins(running));
      REQUIRE(has_computed(running, cpu_seconds));
      running.signal(SIGINT);
      const Ended ended = running.wait();
      CAPTURE(ended.err);
      CHECK(ended.status == 130);
      CHECK(ended.err.find("fovea: stopped") != std::string::npos);
      CHECK(ended.out.empty());
      std::filesystem::remove_all(scratch / "results");  // a sweep goes on from there
      CHECK(all_files(scratch.path()) == std::vector<std::string>{"plan.json"});
    }
}

TEST_CASE("Ctrl-C before a command has begun ends it by the signal or with its message") {
  const TemporaryDirectory scratch;
  for (const auto& command : long_commands(scratch)) {
    CAPTURE(command.front());
    Running running(command);
    running.signal(SIGINT);
    const Ended ended = running.wait();
    CHECK((ended.killed_by == SIGINT || ended.status == 130));
    CHECK(all_files(scratch.path()) == std::vector<std::string>{"plan.json"});
  }
}

TEST_CASE("Ctrl-C harms no file that a command would have replaced") {
  const TemporaryDirectory scratch;
  const std::string old = scratch / "old.safetensors";
  write_bytes(old, "precious");
  Running running({"compute", "synthetic:gaussian?n=131072&d=64", "--variant", "exact", "-o", old});
  REQUIRE(begins(running));
  REQUIRE(has_computed(running, 2));
  running.signal(SIGINT);
  const Ended ended = running.wait();
  CHECK(ended.status == 130);
  CHECK(ended.err.find("fovea: stopped") != std::string::npos);
  CHECK(ended.out.empty());
  CHECK(read_bytes(old) == "precious");
  CHECK(scratch.files().size() == 1);
}
