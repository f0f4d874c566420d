#include "engine/pace.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "engine/computation.h"

namespace fovea {

double pace_ms(const Problem& problem, const Backend& backend, Run& run) {
  using Clock = std::chrono::steady_clock;
  Run quiet{run.profile, run.stop};
  const Computation exact =
      compute(problem, {.variant = &find_variant("exact"), .values = {}, .seed = 0, .repeats = 0},
              backend, quiet);
  double best = std::numeric_limits<double>::infinity();
  for (int repeat = 0; repeat < 3; ++repeat) {
    const auto start = Clock::now();
    exact.op->apply(problem.v, quiet);
    best = std::min(best, std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }
  return best;
}

bool slow_pace(double pace_ms, double best_ms) {
  constexpr double slow = 1.5;
  return pace_ms > slow * best_ms;
}

}  // namespace fovea
