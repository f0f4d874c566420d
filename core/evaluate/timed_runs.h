// TimedRuns are repeated runs of one column, each beside a run of exact attention, and how fast the
// machine was meanwhile.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "analysis/timing.h"
#include "evaluate/computation.h"
#include "evaluate/resident_use.h"

namespace fovea {

struct TimedRuns {
  struct Round {
    TimedRun run;
    std::optional<TimedRun> exact = {};  // in the same round
    double pace_ms = 0;                  // of the machine; 0 if not measured
    bool cold = false;                   // the first run, which took too long to be repeated
    int sitting = 0;                     // rounds of one sitting followed one another at once
  };
  std::vector<Round> rounds;
  Index paced = 0;                    // tokens of the head by which the pace was measured
  std::optional<ResidentUse> memory;  // of planning, binding and one run, where it was measured

  void append(const TimedRuns& more);  // its sittings follow
  int sittings() const;
  double best_pace_ms() const;  // infinite without rounds
  double spent_ms() const;      // in the rounds
};

/// The rounds at the machine's own pace; all rounds if those are of fewer sittings than
/// enough_samples.
std::vector<TimedRuns::Round> quiet_rounds(const TimedRuns& runs, double best_pace_ms);

/// The runs of exact attention in the rounds that have a speed-up.
TimedRuns exact_runs(const TimedRuns& runs);

/// The time of the quiet rounds. Nothing without rounds.
std::optional<MeasuredTime> summarise(const TimedRuns& runs, double best_pace_ms);

/// Calls `round` for about the time given, at least once and at most `most` times, and returns what
/// it returned. A round that warms up comes first and does not count, unless it alone takes all the
/// time.
template <class Round>
auto repeat_for(std::chrono::duration<double, std::milli> time, std::size_t most, Round round) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  std::vector<decltype(round())> rounds;
  rounds.push_back(round());
  if (Clock::now() - start >= time) return rounds;
  rounds.clear();  // it warmed up
  do rounds.push_back(round());
  while (Clock::now() - start < time && rounds.size() < most);
  return rounds;
}

/// A time that ends no rounds: their number does.
inline constexpr std::chrono::hours unlimited_time{24 * 365};

/// The machine may change its state in the course of a round that takes as long as this.
inline constexpr std::chrono::duration<double, std::milli> long_round{50};

struct RoundOptions {
  bool with_memory = false;  // runs once more at first, to measure the rise of the program's memory
  std::chrono::milliseconds time{40};
  std::size_t most_rounds = 16;
};

/// Measures rounds as repeat_for() counts them, in one sitting; a round that takes long_round or
/// longer ends its sitting. In a round every request runs once from Q, K and V to Z, each round
/// beginning with another one; after the last round the machine's pace is measured. If the first
/// request is exact attention, the rounds of the others hold its run, too. The result has an
/// element for each request.
std::vector<TimedRuns> measure_rounds(const Problem& problem,
                                      const std::vector<ComputeRequest>& requests,
                                      const RoundOptions& options, const Backend& backend,
                                      Run& run);

/// As measure_rounds(), but in several sittings, with pauses between them and a round that warms up
/// in each. If the rounds of the first sitting are long, each of the others is a sitting, without
/// pauses.
std::vector<TimedRuns> measure_in_sittings(const Problem& problem,
                                           const std::vector<ComputeRequest>& requests,
                                           const RoundOptions& options, const Backend& backend,
                                           Run& run);

/// The request that repeats a computation: a tree that it learned is given.
ComputeRequest repetition_of(ComputeRequest request, const Computation& computed);

/// Whether a round of a computation and of exact attention, and one that warms up, take less time
/// than this, by their first runs. Learning that is not repeated does not count. `exact` may be
/// null.
bool can_be_repeated(const Computation& computed, const Computation* exact, double budget_ms);

/// A finished computation that is to be run again.
struct Repeated {
  ComputeRequest request;
  const Computation* computed = nullptr;
};

struct RepeatOptions {
  /// With a value each of its rounds is a sitting. Without one there are several sittings, which
  /// take at most a second for each column, or as long as an interval needs.
  std::optional<RoundOptions> rounds = {};
  double budget_ms = 5e3;  // of can_be_repeated()
};

/// Measures rounds of all columns, beside exact attention unless that is null, so that times and
/// ratios come from the same rounds. A computation that takes too long to be repeated is not run
/// again: its first run is its only round. A result that was read has no rounds. The result has an
/// element for each column.
std::vector<TimedRuns> measure_again(const Problem& problem, const std::vector<Repeated>& columns,
                                     const Computation* exact, const RepeatOptions& options,
                                     const Backend& backend, Run& run);

}  // namespace fovea
