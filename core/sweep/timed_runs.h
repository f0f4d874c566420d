// TimedRuns are repeated runs of one column, each beside a run of exact attention, and how fast the
// machine was meanwhile.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "analysis/timing.h"
#include "session/computation.h"
#include "session/resident_use.h"

namespace fovea {

struct TimedRuns {
  struct Round {
    TimedRun run;
    std::optional<TimedRun> exact = {};  // in the same round
    double pace_ms = 0;                  // of the machine; 0 if not measured
    bool cold = false;                   // the first run, which took too long to be repeated
  };
  std::vector<Round> rounds;
  Index paced = 0;                    // tokens of the head by which the pace was measured
  std::optional<ResidentUse> memory;  // of planning, binding and one run, where it was measured

  void append(const TimedRuns& more);
  double best_pace_ms() const;  // infinite without rounds
  double spent_ms() const;      // in the rounds
};

/// The rounds at the machine's own pace; all rounds if those are fewer than enough_samples.
std::vector<TimedRuns::Round> quiet_rounds(const TimedRuns& runs, double best_pace_ms);

/// The runs of exact attention in the rounds that have a speed-up.
TimedRuns exact_runs(const TimedRuns& runs);

/// The time of the quiet rounds. Nothing without rounds.
std::optional<MeasuredTime> summarise(const TimedRuns& runs, double best_pace_ms);

struct RoundOptions {
  bool with_memory = false;  // runs once more at first, to measure the rise of the program's memory
  std::chrono::milliseconds time{40};
  std::size_t most_rounds = 16;
};

/// Measures rounds for about the time given, at least one. In a round every request runs once from
/// Q, K and V to Z, each round beginning with another one, and then the machine's pace is measured.
/// If the first request is exact attention, the rounds of the others hold its run, too. A round
/// that warms up comes first and does not count, unless it alone takes all the time. The result has
/// an element for each request.
std::vector<TimedRuns> measure_rounds(const Problem& problem,
                                      const std::vector<ComputeRequest>& requests,
                                      const RoundOptions& options, const Backend& backend,
                                      Run& run);

/// Measures rounds of exact attention and the request, or of exact attention alone if that is the
/// request.
TimedRuns measure_beside_exact(const Problem& problem, const ComputeRequest& request,
                               const RoundOptions& options, const Backend& backend, Run& run);

/// Whether there is time for one more round and for one that warms up. `exact` may be null.
bool can_be_repeated(const TimedRun& first, const TimedRun* exact, double budget_ms);

/// The first run as the only round, cold. `exact` may be null.
TimedRuns first_run_alone(const Computation& computed, const Computation* exact);

/// A finished computation that is to be run again.
struct Repeated {
  ComputeRequest request;
  const Computation* computed = nullptr;
};

/// Measures some rounds of all columns, beside exact attention unless that is null, so that times
/// and ratios come from the same rounds. A computation that would take several seconds is not run
/// again: its first run is its only round. An imported column has no rounds. The result has an
/// element for each column.
std::vector<TimedRuns> measure_again(const Problem& problem, const std::vector<Repeated>& columns,
                                     const Computation* exact, const Backend& backend, Run& run);

/// Measures one column in this way.
TimedRuns measure_again(const Problem& problem, const ComputeRequest& request,
                        const Computation& computed, const Computation* exact,
                        const Backend& backend, Run& run);

}  // namespace fovea
