// Timings are repeated rounds of the columns of each head, a few at a time while nothing else is to
// be done.
#pragma once

#include <functional>
#include <limits>
#include <vector>

#include "evaluate/timed_runs.h"
#include "study/results.h"

namespace fovea {

class Timings {
 public:
  explicit Timings(Requests& requests) : requests_(requests) {}

  /// Sets time and memory of a column, as far as they were measured.
  void annotate(ColumnState& state);
  /// Requests more rounds of the head that has the fewest; `done` is called when they are there.
  void measure_next(const Results& results, std::function<void()> done);
  /// Measures everything again.
  void forget() {
    rounds_.clear();
    failures_.clear();
  }

 private:
  /// Rounds in each of which every column of a head runs once. Only times of the same rounds are
  /// comparable, so a new column makes the rounds start again.
  struct Rounds {
    std::vector<ComputeKey> columns;  // exact attention first, if it takes part
    std::vector<TimedRuns> runs;      // of each column
    std::vector<std::shared_ptr<const MeasuredTime>> times;         // null before the first rounds
    double best_pace_ms = std::numeric_limits<double>::infinity();  // of earlier rounds, too
  };
  using Cache = ResultCache<HeadKey, Rounds>;
  /// One request: rounds, or which columns cannot be run again.
  struct Measured {
    std::vector<TimedRuns> runs;
    std::vector<std::size_t> failed;
  };
  /// What can be timed of a head.
  struct Subject {
    HeadKey head;
    std::vector<ComputeKey> columns;  // as in Rounds
    std::vector<std::shared_ptr<const Computation>> computations;
  };
  Subject subject_of(const Results& results, std::size_t head);
  Cache::Answer& rounds_for(const Subject& subject);
  static bool wants_more(const Rounds& rounds);
  static Measured measure(const Subject& subject, bool with_memory, const Backend& backend,
                          Run& run);
  static void take(const Measured& more, Rounds& rounds);

  Requests& requests_;
  Cache rounds_{requests_, 16};
  ResultCache<ComputeKey, const Rounds> failures_{requests_, 64};  // without results
};

}  // namespace fovea
