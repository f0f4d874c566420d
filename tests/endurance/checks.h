// Checks of what a window shows: numbers are finite, nothing is blank without a reason, and nothing
// has failed that could be computed.
#pragma once

#include "endurance/desk.h"

namespace fovea::test {

/// Checks a window in any state.
void check_session(Desk& desk, MainWindow& window);
/// Checks a window that is settled.
void check_results(Desk& desk, MainWindow& window);
/// Waits until the window is settled, at most `limit_ms`; what takes longer is cancelled, and must
/// then end. Returns whether it is settled.
bool settle(Desk& desk, MainWindow& window, int limit_ms);
/// Cancels, and waits until nothing is computed any more.
void cancel_all(Desk& desk, MainWindow& window);

}  // namespace fovea::test
