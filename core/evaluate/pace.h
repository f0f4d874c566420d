// A pace is how long one small piece of work, always the same, takes the machine now. It tells
// whether the machine was slowed down while times were measured.
#pragma once

#include "backend/backend.h"
#include "data/problem.h"

namespace fovea {

/// The number of tokens that are timed, or all if there are fewer.
inline constexpr Index pace_length = 1024;

/// A run of exact attention of this problem, planned and warm. The best of several runs, some
/// milliseconds in all: time that other programs take now and then, or a thread that wakes late,
/// does not count.
double pace_ms(const Problem& problem, const Backend& backend, Run& run);

/// Whether a pace is less than two thirds of the best pace of the same problem.
bool slow_pace(double pace_ms, double best_ms);

}  // namespace fovea
