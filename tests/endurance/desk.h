// The Desk is what a person who uses the program has before them: its windows, files, and programs
// that send to it.
#pragma once

#include <QPointer>
#include <functional>
#include <memory>
#include <vector>

#include "endurance/draws.h"
#include "endurance/made_files.h"
#include "endurance/run_log.h"
#include "live/live_server.h"
#include "study/background.h"
#include "window/main_window.h"

namespace fovea::test {

class Desk {
 public:
  /// Files lie below `folder`, which is there. `slow`: how many times longer everything may take.
  Desk(RunLog& log, const QString& folder, int slow);

  RunLog& log() { return log_; }
  const MadeFiles& files() const { return files_; }
  /// The draws of the present action.
  Draws& draws() { return *draws_; }
  void begin_action(int number, const std::string& name, std::uint64_t seed);

  /// Those that are open.
  std::vector<MainWindow*> windows() const;
  /// One of them; opens one where there is none.
  MainWindow& window();
  /// What the command line does: a window for each of these, without any the last session.
  void open_windows(const std::vector<std::string>& what);
  /// Closes it as its button does, and waits until it is gone.
  void close(MainWindow& window);
  QString socket() const { return socket_; }
  Background& background() { return *background_; }

  /// The event loop runs until `done`, at most `limit_ms` (times `slow`). Returns whether it is
  /// done.
  bool wait_until(const std::function<bool()>& done, int limit_ms);
  void wait(int ms);
  int slow() const { return slow_; }

  /// The present action does something wrong: a message of a window that comes soon is right.
  void expect_message() { expected_until_ = log_.seconds() + 15 * slow_; }
  bool message_expected() const { return log_.seconds() < expected_until_; }

 private:
  RunLog& log_;
  MadeFiles files_;
  const int slow_;
  QString socket_;
  std::unique_ptr<Draws> draws_;
  std::shared_ptr<Background> background_ = std::make_shared<Background>();
  std::shared_ptr<LiveStreams> streams_;
  std::shared_ptr<LiveServer> server_;
  std::vector<QPointer<MainWindow>> windows_;
  double expected_until_ = 0;  // in seconds of the log
};

}  // namespace fovea::test
