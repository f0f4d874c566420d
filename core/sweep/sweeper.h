// A Sweeper measures a Sweep, a little at a time: it can be stopped after any step and goes on
// where it was.
#pragma once

#include "sweep/sweep.h"

namespace fovea {

struct SweepLimits {
  Index longest = 0;      // 0: the head's own length
  double seconds = 60;    // for measuring; a run expected to exceed them is left out
  double slice_ms = 150;  // of repeated runs in a step; one run may take longer
  int samples = 15;       // of a point, at most
  friend bool operator==(const SweepLimits&, const SweepLimits&) = default;
};

class Sweeper {
 public:
  /// Exact is measured first whether it is among the columns or not, and shown once.
  Sweeper(Problem head, std::vector<Column> columns, SweepLimits limits = {});

  /// Measures one point, or improves one a little, and returns true; false if nothing is left to
  /// do. At each length the columns take turns, so that all meet the machine in the same state. A
  /// point that cannot be measured, for lack of memory or because of its parameters, is noted as a
  /// refusal. Throws Cancelled and DeviceLostError, and then leaves the Sweep as it was.
  bool step(const Backend& backend, Run& run);

  const Sweep& sweep() const { return sweep_; }
  struct Task {
    std::size_t series = 0;
    Index n = 0;
  };
  /// What the next step measures; no value if nothing is left to do.
  std::optional<Task> next() const;
  /// Estimates, for showing progress alone.
  double seconds_spent() const { return spent_ms_ / 1e3; }
  double seconds_left() const;

 private:
  struct Runs {
    std::vector<TimedRun> runs;
    double spent_ms = 0;
    bool refused = false;
  };
  std::size_t place(Task task) const;  // in runs_
  double allowance_ms() const;
  double expected_ms(Task task) const;
  bool affordable(Task task) const;
  bool wants_share(Task task) const;
  bool wants_rest(Task task) const;
  std::optional<Task> first_of(bool (Sweeper::*wants)(Task) const) const;
  void measure(Task task, const Backend& backend, Run& run);
  double pace(const Backend& backend, Run& run) const;
  void take(Task task, const Computation& computation, std::vector<TimedRun> runs, double pace);

  Problem head_;
  SweepLimits limits_;
  Sweep sweep_;
  std::vector<Runs> runs_;  // [series, length]
  Matrix exact_z_;          // of exact at `exact_n_` tokens
  Index exact_n_ = 0;
  double spent_ms_ = 0;
};

}  // namespace fovea
