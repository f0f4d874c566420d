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

/// The rounds at the machine's own pace; all of them where those are fewer than enough_samples.
std::vector<TimedRuns::Round> quiet_rounds(const TimedRuns& runs, double best_pace_ms);

/// The runs of exact attention in the rounds that have a speed-up.
TimedRuns exact_runs(const TimedRuns& runs);

/// The time of the quiet rounds. Nothing without rounds.
std::optional<MeasuredTime> summarise(const TimedRuns& runs, double best_pace_ms);

struct RoundOptions {
  bool with_memory = false;  // first once more, for the rise of the program's memory
  std::chrono::milliseconds time{40};
  std::size_t most_rounds = 16;
};

/// Rounds for about the time given, at least one, in each of which every request is run once from
/// Q, K and V to Z, another one first in each round; then the machine's pace. If the first request
/// is exact attention, the rounds of the others hold its run, too. A round that warms up comes
/// first and does not count, unless it alone takes all the time. The result has an element for each
/// request.
std::vector<TimedRuns> measure_rounds(const Problem& problem,
                                      const std::vector<ComputeRequest>& requests,
                                      const RoundOptions& options, const Backend& backend,
                                      Run& run);

/// Rounds of exact attention and the request; of exact attention by itself where it is the request.
TimedRuns measure_beside_exact(const Problem& problem, const ComputeRequest& request,
                               const RoundOptions& options, const Backend& backend, Run& run);

/// Whether there is time for one more round and for one that warms up. `exact` may be null.
bool can_be_repeated(const TimedRun& first, const TimedRun* exact, double budget_ms);

/// The first run as the only round, cold. `exact` may be null.
TimedRuns first_run_alone(const Computation& computed, const Computation* exact);

/// What was computed already, to be run again.
struct Repeated {
  ComputeRequest request;
  const Computation* computed = nullptr;
};

/// Some rounds of all columns, beside exact attention unless that is null, so that their times and
/// ratios are of the same rounds. What would take several seconds is not run again: the first runs
/// are its only round. An imported column has none. The result has an element for each column.
std::vector<TimedRuns> measure_again(const Problem& problem, const std::vector<Repeated>& columns,
                                     const Computation* exact, const Backend& backend, Run& run);

/// The same of one column.
TimedRuns measure_again(const Problem& problem, const ComputeRequest& request,
                        const Computation& computed, const Computation* exact,
                        const Backend& backend, Run& run);

}  // namespace fovea
