// A Measurement is how long one variant took, interleaved with the others in the same run.
#pragma once

#include <string>
#include <vector>

#include "evaluate/timed_runs.h"

namespace fovea {

struct Contender {
  const Variant* variant = nullptr;
  Values values;
};

struct Measurement {
  Contender contender;
  Timing timing;  // of one head: a sample is one head in one round
  Cost cost;      // of one head, the mean over heads
  std::vector<std::string> notes;

  double rate() const { return 2e-6 * cost.multiply_adds / timing.total.median_ms; }  // GFLOP/s
  SpeedUp speed_up;              // exact's total over this one's, over rounds and heads
  double promised_speed_up = 1;  // exact's multiply-adds over this one's
  double share() const { return speed_up.median / promised_speed_up; }
};

struct MeasureOptions {
  int rounds = 7;
  std::uint64_t seed = 0;
};

/// Plans, uploads and applies every contender in turn, round after round of each head, so that all
/// of them see the machine in the same state. The first round of a head is a warm-up and is not
/// counted. The first contender must be exact attention.
std::vector<Measurement> measure(const std::vector<Problem>& heads,
                                 const std::vector<Contender>& contenders, const Backend& backend,
                                 const MeasureOptions& options, std::stop_token stop);

/// Independent standard normal Q, K and V. A `scale` of 0 means 1/sqrt(d).
std::vector<Problem> random_heads(Index n, Index d, Index heads, bool causal, std::uint64_t seed,
                                  double scale = 0);

/// Milliseconds to read Q, K and V once and to write Z with `threads` threads: a lower bound for
/// any attention of this size. The median of `rounds` runs.
double memory_pass_ms(Index n, Index d, int threads, int rounds);

}  // namespace fovea
