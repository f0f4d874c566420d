// The Watchdog notices when the window's thread no longer handles events. The time that the thread
// was ready but other programs had the cores does not count.
#pragma once

#include <QObject>
#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <thread>

#include "endurance/run_log.h"

namespace fovea::test {

class Watchdog : public QObject {
 public:
  /// Watches the calling thread. A gap of more than `unresponsive_ms` is a failure, and where the
  /// thread is then is written into the log; after `dead_ms`, and where one action takes ten times
  /// that, the program is ended with status 3.
  Watchdog(RunLog& log, int unresponsive_ms, int dead_ms);
  ~Watchdog() override;

  /// The longest gap so far, without the time in which other programs had the cores.
  double longest_ms() const { return longest_ms_; }

 protected:
  void timerEvent(QTimerEvent* event) override;

 private:
  void watch(std::stop_token stop);
  [[noreturn]] void end(const std::string& why);

  RunLog& log_;
  const int unresponsive_ms_, dead_ms_;
  const pthread_t watched_;
  std::atomic<std::int64_t> beat_ns_;
  std::map<std::string, std::int64_t> waited_ns_;  // for a core, by thread, up to the last beat
  double longest_ms_ = 0;
  std::jthread thread_;
};

/// Writes where the program is into the log when it crashes. Once.
void log_crashes(const RunLog& log);

}  // namespace fovea::test
