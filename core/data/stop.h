// A stop is asked for where the result of long work is not wanted any more.
#pragma once

#include <stop_token>

#include "data/error.h"

namespace fovea {

/// Throws Cancelled once a stop was asked for. To be called every few milliseconds of long work.
inline void check_stop(const std::stop_token& stop) {
  if (stop.stop_requested()) throw Cancelled();
}

}  // namespace fovea
