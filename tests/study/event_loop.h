// Waiting for a Study: the event loop runs until something has happened.
#pragma once

#include <QCoreApplication>
#include <QElapsedTimer>
#include <QThread>
#include <functional>

namespace fovea::test {

/// Runs the event loop until `done`, at most `limit_ms`. Returns whether it is done.
inline bool wait_until(const std::function<bool()>& done, int limit_ms = 30000) {
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
