// A stop is requested when the result of long work is not wanted any more.
#pragma once

#include <stop_token>

#include "data/error.h"
#include "data/matrix.h"

namespace fovea {

/// Throws Cancelled once a stop was asked for. To be called every few milliseconds of long work.
inline void check_stop(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Cancelled();
}

/// Calls body(row) for each row in order, on this thread; throws Cancelled between two rows.
void for_each_row(Index rows, const std::stop_token& stop, const auto& body) {
  constexpr Index between_checks = 256;
  for (Index row = 0; row < rows; ++row) {
    if (row % between_checks == 0) check_stop(stop);
    body(row);
  }
}

}  // namespace fovea
