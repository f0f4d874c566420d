// Repeats work that must not be lost if memory is refused for a moment, such as telling a window
// how a request has ended.
#pragma once

#include <chrono>
#include <new>
#include <stop_token>
#include <thread>

namespace fovea {

/// Calls `action` until it no longer throws std::bad_alloc, with a pause after each time: other
/// threads free memory meanwhile. A call that throws must leave nothing half done. After `stop`
/// there is no further call.
template <class Action>
void retry_until_allocated(const std::stop_token& stop, const Action& action) {
  constexpr std::chrono::milliseconds pause(10);
  do {
    try {
      return action();
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(pause);
    }
  } while (!stop.stop_requested());
}

}  // namespace fovea
