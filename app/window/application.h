// The Application is Qt's, with rules for the whole program: an uncaught exception is shown and the
// windows go on, signals close the windows, and if the program cannot go on (a crash, a lost
// display) it says where to find the sessions.
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
  Application(int& argc, char** argv);
  bool notify(QObject* receiver, QEvent* event) override;

 private:
  void count_shown_window();

  int shown_windows_ = 0;  // dialogs, menus and lists, too
};

/// Writes the recovery files of all windows now, and returns the path of the first; empty if none
/// could be written. To be called on the application's thread.
std::string keep_sessions();

/// From now on the loss of the display, and a crash, end the program with a message.
void report_crashes_and_lost_display();

/// While it exists, SIGINT, SIGTERM and SIGHUP close all windows as a person does. If the program
/// has not ended 3 s later, it is ended, and the next start offers the sessions that were not
/// saved. SIGUSR2, with which it stops its own thread, does nothing if others send it. Construct it
/// before any other thread, which inherits the blocked signals.
class CloseOnSignal {
 public:
  CloseOnSignal();
  ~CloseOnSignal();
  CloseOnSignal(const CloseOnSignal&) = delete;
  CloseOnSignal& operator=(const CloseOnSignal&) = delete;

  /// The signal that came; 0 if none.
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
