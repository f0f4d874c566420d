// Timings are repeated runs of the columns' computations, a few at a time while nothing else is to
// be done.
#pragma once

#include <functional>
#include <vector>

#include "study/results.h"
#include "sweep/timed_runs.h"

namespace fovea {

class Timings {
 public:
  explicit Timings(Requests& requests) : requests_(requests) {}

  /// Sets time and memory of a column, as far as they were measured.
  void annotate(ColumnState& state);
  /// Requests more rounds of the column that has the fewest; `done` is called when they are there.
  void measure_next(const Results& results, std::function<void()> done);
  /// Measures everything again.
  void forget() { runs_.clear(); }

 private:
  struct Measured {
    TimedRuns runs;
    std::shared_ptr<const MeasuredTime> time;  // what they say; null: nothing yet
  };
  using Cache = ResultCache<ComputeKey, Measured>;
  double best_pace_ms(const HeadKey& head) const;
  bool wants_more(const Cache::Answer& known) const;
  TimedRuns exact_beside_others(const HeadKey& head) const;
  void summarise_all(const HeadKey& head);

  Requests& requests_;
  Cache runs_{requests_, 64};
};

}  // namespace fovea
