#include "evaluate/pace.h"

#include <algorithm>
#include <chrono>
#include <limits>

#include "evaluate/computation.h"

namespace fovea {

double pace_ms(const Problem& problem, const Backend& backend, Run& run) {
  using Clock = std::chrono::steady_clock;
  Run quiet = run.quiet();
  const Computation exact = compute_exact(problem, backend, quiet);
  constexpr int least_runs = 3;
  constexpr double least_ms = 5;
  double best = std::numeric_limits<double>::infinity(), total = 0;
  for (int runs = 0; runs < least_runs || total < least_ms; ++runs) {
    const auto start = Clock::now();
    exact.op->apply(quiet);
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    best = std::min(best, ms);
    total += std::max(ms, 1e-3);
  }
  return best;
}

bool slow_pace(double pace_ms, double best_ms) {
  constexpr double slow = 1.5;
  return pace_ms > slow * best_ms;
}

}  // namespace fovea
