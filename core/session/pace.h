// A pace is how long the same small piece of work takes the machine now: it tells whether times
// that were measured meanwhile are of a machine that was slowed down.
#pragma once

#include "backend/backend.h"
#include "data/problem.h"

namespace fovea {

/// The number of tokens that are timed, or all if there are fewer.
inline constexpr Index pace_length = 1024;

/// A run of exact attention of this problem, planned and warm. The best of several, some
/// milliseconds in all: what other programs take now and then, or a thread that wakes late, is not
/// the machine's pace.
double pace_ms(const Problem& problem, const Backend& backend, Run& run);

/// Less than two thirds of the best pace of the same problem.
bool slow_pace(double pace_ms, double best_ms);

}  // namespace fovea
