// TimedRuns are repeated runs of one computation, warm-up excluded, and what the machine was like
// meanwhile.
#pragma once

#include <optional>
#include <vector>

#include "analysis/timing.h"
#include "session/resident_use.h"
#include "session/session.h"

namespace fovea {

struct TimedRuns : TimingSamples {
  std::vector<double> pace_ms;        // of the machine, after each few runs
  std::optional<ResidentUse> memory;  // of planning, upload and one run, where it was measured

  void append(const TimedRuns& more);
};

/// One plan and upload, then some runs of apply after a warm-up, about 40 ms of them, and the
/// machine's pace. `with_memory`: first once more, for the rise of the program's memory.
TimedRuns measure_runs(const Problem& problem, const Column& column, bool with_memory,
                       const Backend& backend, Run& run);

}  // namespace fovea
