// Timings are repeated runs of the columns' computations, a few at a time while nothing else is to
// be done.
#pragma once

#include <list>
#include <vector>

#include "study/results.h"

namespace fovea {

/// Runs of one computation, warm-up excluded.
struct TimingSamples {
  std::vector<Profile> plan, upload, apply;
  std::vector<double> pace_ms;        // of the machine, after each few runs
  std::optional<ResidentUse> memory;  // of planning, upload and one run, where it was measured

  void append(const TimingSamples& more);
};

class Timings {
 public:
  explicit Timings(Requests& requests) : requests_(requests) {}

  /// Sets timing, throttled and memory of a column, as far as they were measured.
  void annotate(ColumnState& state) const;
  /// Requests more runs of the column that has the fewest; `done` is called when they are there.
  void measure_next(const std::vector<ColumnState>& columns, std::function<void()> done);
  void clear() { runs_.clear(); }

 private:
  struct Runs {
    ComputeKey key;
    TimingSamples samples;
    bool failed = false;  // no memory for another one, for example: not tried again
  };
  bool throttled(const Runs& runs) const;
  void add(const ComputeKey& key, const TimingSamples& samples, bool failed);

  Requests& requests_;
  std::list<Runs> runs_;
};

}  // namespace fovea
