// An Interrupt turns Ctrl-C into a wish to stop, and sees to it that the program ends soon after.
#pragma once

#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

namespace fovea {

/// From its construction on SIGINT and SIGTERM request a stop of `token()`. Work that has not ended
/// 100 ms later is in something that cannot be cut short: the process then exits with status 130.
/// Make it before any other thread, so that they all leave the signals to it.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  std::stop_token token() const { return wish_.get_token(); }

 private:
  void watch();

  std::stop_source wish_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::thread watcher_;
};

}  // namespace fovea
