// The Application is Qt's, with what holds for the whole program: an exception that nobody caught
// is shown and the windows go on, signals close the windows, and where the program cannot go on
// (a crash, no display any more) it says that the sessions were kept.
#pragma once

#include <QApplication>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace fovea {

class Application : public QApplication {
 public:
  using QApplication::QApplication;
  bool notify(QObject* receiver, QEvent* event) override;
};

/// Writes the sessions of all windows now. Returns where the first of them is; empty: nowhere.
std::string keep_sessions();

/// From now on the end of the display, and a crash, end the program with a message.
void say_why_it_ends();

/// While it exists, SIGINT, SIGTERM and SIGHUP close all windows as a person does. A program that
/// has not ended 3 s later is ended, and the next one offers its sessions. Construct it before any
/// other thread, which inherits the blocked signals.
class CloseOnSignal {
 public:
  CloseOnSignal();
  ~CloseOnSignal();
  CloseOnSignal(const CloseOnSignal&) = delete;
  CloseOnSignal& operator=(const CloseOnSignal&) = delete;

  /// The signal that came; 0: none.
  int came() const { return came_; }

 private:
  void watch();

  std::mutex mutex_;
  std::condition_variable ended_;
  bool over_ = false;
  std::atomic<int> came_ = 0;
  std::thread watcher_;
};

}  // namespace fovea
