// How long a cancel takes, at lengths at which computing takes minutes.
#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <thread>

#include "harness.h"
#include "session/computation.h"

using namespace fovea;
using namespace fovea::test;

namespace {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::duration<double, std::milli>;

/// Of all threads of this process.
double processor_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) + 1e-6 * static_cast<double>(now.tv_nsec);
}

/// From the request to stop until the work has ended, where it is requested `after` so long; 0: it
/// had ended before. On the wall, or of processor time where that is less: on a busy machine
/// threads wait for their turns.
double cancelled_ms(std::chrono::milliseconds after, const std::function<void(Run&)>& work) {
  std::stop_source stop;
  Clock::time_point requested = Clock::time_point::max();
  double processor = 0;
  std::jthread later([&](const std::stop_token& over) {
    const auto until = Clock::now() + after;
    while (Clock::now() < until && !over.stop_requested())
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    requested = Clock::now();
    processor = processor_ms();
    stop.request_stop();
  });
  Profile profile;
  Run run{profile, stop.get_token()};
  try {
    work(run);
  } catch (const Cancelled&) {
  }
  const auto ended = Clock::now();
  const double spent = processor_ms();
  later = {};
  if (ended < requested) return 0;
  return std::min(Milliseconds(ended - requested).count(), spent - processor);
}

/// Of several moments the longest.
double longest_cancel_ms(const std::function<void(Run&)>& work) {
  double longest = 0;
  for (const int after : {30, 100, 200, 300, 500})
    longest = std::max(longest, cancelled_ms(std::chrono::milliseconds(after), work));
  return longest;
}

}  // namespace

TEST_CASE("timing: a cancel ends the computing of every variant within 200 ms, at any length") {
  const auto backend = make_cpu_backend({.threads = 2});
  Problem problem = make_data(Data::gaussian, 131072, 64, 64, false);
  for (const Variant& variant : variants()) {
    problem.causal = !problem.causal && variant.has_causal_form();  // in turn
    const ComputeRequest request{.variant = &variant, .values = defaults(variant.schema)};
    const double ms =
        longest_cancel_ms([&](Run& run) { compute(problem, request, *backend, run); });
    MESSAGE(variant.id, ": ", ms, " ms");
    CHECK(ms < 200);
  }
}

TEST_CASE("timing: a cancel ends the decomposition of the largest blocks within 200 ms") {
  const auto backend = make_cpu_backend({.threads = 2});
  // Of full rank, and of low rank.
  const Problem full = make_data(Data::gaussian, 4096, 256, 256, false),
                low = make_data(Data::gaussian, 4096, 4, 4, false);
  for (const Problem* problem : {&full, &low}) {
    const Instance exact = make_instance(*backend, *problem, "exact", {});
    Matrix blocks[2];
    for (Index b = 0; b < 2; ++b) blocks[b] = exact.tile({2048 * b, 2048 * (b + 1)}, {0, 2048});
    const MatrixView views[] = {blocks[0], blocks[1]};
    for (const int after : {5, 60, 200, 500, 1000}) {
      const double ms = cancelled_ms(std::chrono::milliseconds(after),
                                     [&](Run& run) { backend->singular_values(views, run); });
      MESSAGE("after ", after, " ms: ", ms, " ms");
      CHECK(ms < 200);
    }
  }
}

TEST_CASE("timing: a cancel ends the learning of a tree of 1024 leaves within 200 ms") {
  const auto backend = make_cpu_backend({.threads = 2});
  const Problem problem = make_data(Data::gaussian, 131072, 64, 64, false);
  for (const char* id : {"tf", "tc"}) {
    const Variant& variant = find_variant(id);
    const ComputeRequest request{
        .variant = &variant,
        .values = values_of(variant, {{"tree", "learned"}, {"height", "10"}, {"steps", "1000"}})};
    for (const int after : {30, 1000, 3000, 4000}) {
      const double ms = cancelled_ms(std::chrono::milliseconds(after),
                                     [&](Run& run) { compute(problem, request, *backend, run); });
      MESSAGE(id, " after ", after, " ms: ", ms, " ms");
      CHECK(ms < 200);
    }
  }
}
