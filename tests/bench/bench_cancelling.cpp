// Prints how long a cancel takes where computing takes minutes: of every variant, of the
// decomposition of large blocks, of learning, and of every command that Ctrl-C ends:
// bench_cancelling [--test-case=PATTERN]. Not a test: it would fail on a busy machine, through no
// fault of the program.
#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <thread>

#include "backend/backends.h"
#include "cli/long_commands.h"
#include "cli/program.h"
#include "evaluate/computation.h"
#include "harness.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr double goal_ms = 200;

double ms_since(Clock::time_point begin) {
  return std::chrono::duration<double, std::milli>(Clock::now() - begin).count();
}

void say(const std::string& what, double ms) {
  std::printf("%-60s %7.1f ms  %s\n", what.c_str(), ms, ms < goal_ms ? "reached" : "MISSED");
}

/// From the request to stop, `after` so long, until the work has ended; 0 if it had ended before.
double cancelled_ms(milliseconds after, const std::function<void(Run&)>& work) {
  std::stop_source stop;
  Clock::time_point requested = Clock::time_point::max();
  std::jthread later([&](const std::stop_token& over) {
    const auto until = Clock::now() + after;
    while (Clock::now() < until && !over.stop_requested())
      std::this_thread::sleep_for(milliseconds(1));
    requested = Clock::now();
    stop.request_stop();
  });
  Profile profile;
  Run run{profile, stop.get_token()};
  try {
    work(run);
  } catch (const Cancelled&) {
  }
  const auto ended = Clock::now();
  later = {};
  return std::max(0.0, std::chrono::duration<double, std::milli>(ended - requested).count());
}

/// Measures at several moments, and prints the longest.
void measure(const std::string& what, const std::vector<int>& moments_ms,
             const std::function<void(Run&)>& work) {
  double longest = 0;
  for (const int after : moments_ms)
    longest = std::max(longest, cancelled_ms(milliseconds(after), work));
  say(what, longest);
}

}  // namespace

TEST_CASE("benchmark: a cancel of every variant, n = 131072") {
  const auto backend = make_cpu_backend({.threads = 2});
  Problem problem = make_data(Data::gaussian, 131072, 64, 64, false);
  for (const Variant& variant : variants()) {
    const bool in_turn = !problem.causal && variant.has_causal_form();
    problem.causal = in_turn || !variant.has_bidirectional_form();
    const ComputeRequest request{.variant = &variant, .values = defaults(variant.schema)};
    measure(variant.id, {30, 100, 200, 300, 500},
            [&](Run& run) { compute(problem, request, *backend, run); });
  }
}

TEST_CASE("benchmark: a cancel of the decomposition of the largest blocks") {
  const auto backend = make_cpu_backend({.threads = 2});
  for (const Index d : {256, 4}) {  // blocks of full and of low rank
    const Problem problem = make_data(Data::gaussian, 4096, d, d, false);
    const Instance exact = make_instance(*backend, problem, "exact", {});
    Matrix blocks[2];
    for (Index b = 0; b < 2; ++b) blocks[b] = exact.tile({2048 * b, 2048 * (b + 1)}, {0, 2048});
    const MatrixView views[] = {blocks[0], blocks[1]};
    measure("two blocks of 2048, d = " + std::to_string(d), {5, 60, 200, 500, 1000},
            [&](Run& run) { backend->singular_values(views, run); });
  }
}

TEST_CASE("benchmark: a cancel of the learning of a tree of 1024 leaves, n = 131072") {
  const auto backend = make_cpu_backend({.threads = 2});
  const Problem problem = make_data(Data::gaussian, 131072, 64, 64, false);
  for (const char* id : {"tf", "tc"}) {
    const Variant& variant = find_variant(id);
    const ComputeRequest request{
        .variant = &variant,
        .values = values_of(variant, {{"tree", "learned"}, {"height", "10"}, {"steps", "1000"}})};
    measure(std::string(id) + ", learned", {30, 1000, 3000, 4000},
            [&](Run& run) { compute(problem, request, *backend, run); });
  }
}

TEST_CASE("benchmark: Ctrl-C in every command") {
  const TemporaryDirectory scratch;
  for (const auto& command : long_commands(scratch))
    for (const int after : {30, 600, 1500}) {
      Running running(command);
      std::this_thread::sleep_for(milliseconds(after));
      const auto pressed = Clock::now();
      running.signal(SIGINT);
      running.wait();
      say(command.front() + " " + command[1] + " after " + std::to_string(after) + " ms",
          ms_since(pressed));
      std::filesystem::remove_all(scratch / "results");  // a sweep would go on from there
    }
}
