// An EnduranceRun does actions that are drawn at random, after it has done every action once. Now
// and then one window shows the session with which the run began; there the resources are read,
// whose growth is bounded: that of memory since a warm-up of ten minutes, more loosely during it.
#pragma once

#include <cstdint>
#include <optional>

#include "endurance/actions.h"
#include "endurance/answers.h"
#include "endurance/resources.h"
#include "endurance/watchdog.h"

namespace fovea::test {

struct RunOptions {
  std::uint64_t seed = 1;
  double seconds = 600;  // no action begins later
  int actions = 0;       // number after which it ends; 0 means as many as there is time for
  int between = 150;     // actions from one reading of resources to the next
  int patience = 1;      // the window may be unresponsive for so many times two seconds
  std::string only;      // only actions whose names have this; empty means all
};

class EnduranceRun {
 public:
  EnduranceRun(RunLog& log, const QString& folder, const RunOptions& options);
  /// Returns whether nothing went wrong.
  bool run();

 private:
  void act(const Action& action);
  bool may_go_on() const;
  const Action& drawn_action();
  /// Closes everything but one window, which shows the first session again, and waits until nothing
  /// is done any more.
  void go_home();
  void make_home();
  /// Reads those of the window that was used, then of a new one, which is compared with those
  /// before. What was freed and is kept for reuse, by the C library or for matrices, is returned
  /// before: how much that is depends on what was done last.
  void read_resources();
  Resources resources(const char* when);
  bool has_grown(const Resources& now) const;
  void check_growth(const Resources& used, const Resources& now);

  RunLog& log_;
  const RunOptions options_;
  Watchdog watchdog_;
  Desk desk_;
  Answers answers_;
  std::vector<Action> actions_;
  int done_ = 0;
  QString home_;                    // a session file
  std::optional<Resources> first_;  // once each action was done
  bool warm_ = false;
  std::optional<Resources> before_;  // with which memory is compared: at first, after the warm-up,
                                     // and then when it had grown too much
};

}  // namespace fovea::test
