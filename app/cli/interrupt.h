// An Interrupt turns Ctrl-C into a stop request and makes sure that the program ends soon after it.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace fovea {

/// While it exists, SIGINT and SIGTERM request a stop of `token()`. If the work has not ended 100
/// ms later, the process exits with status 130. Construct it before any other thread, so that all
/// threads inherit the blocked signals.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return stop_.get_token(); }

 private:
  void watch();

  std::stop_source stop_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread watcher_;
};

}  // namespace fovea
