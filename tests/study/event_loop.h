// Waiting for a Study: the event loop runs until something has happened.
#pragma once

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QThread>
#include <functional>

namespace fovea::test {

/// Runs the event loop until `done`, at most `limit_ms`: a minute is so long that only what hangs
/// takes it. Returns whether it is done.
inline bool wait_until(const std::function<bool()>& done, int limit_ms = 60000) {
  QElapsedTimer clock;
  clock.start();
  while (!done()) {
    if (clock.elapsed() > limit_ms) return false;
    QCoreApplication::processEvents();
    QThread::usleep(500);
  }
  return true;
}

inline void run_events(int ms) {
  wait_until([] { return false; }, ms);
}

}  // namespace fovea::test
