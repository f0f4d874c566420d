// The RunLog of an endurance run: each action is written before it is done, so that the last line
// names what crashed or hung. What went wrong is counted and told on the standard error stream too.
#pragma once

#include <QElapsedTimer>
#include <mutex>
#include <string>

namespace fovea::test {

class RunLog {
 public:
  /// `path`: of the file that is replaced. Throws std::runtime_error when it cannot be written.
  explicit RunLog(const std::string& path);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  /// A line with the seconds since the start. Any thread may write.
  void line(const std::string& text);
  /// Something that must not be.
  void failure(const std::string& text);
  int failures() const;
  /// What runs now, for failures; the number of the action and its name.
  void begin_action(int number, const std::string& name);
  /// The descriptor of the file, for a handler of signals.
  int descriptor() const { return descriptor_; }
  double seconds() const { return double(clock_.nsecsElapsed()) * 1e-9; }
  /// Since the present action began.
  double seconds_in_action() const;

 private:
  int descriptor_;
  QElapsedTimer clock_;
  mutable std::mutex mutex_;
  std::string action_ = "start";
  double action_began_ = 0;  // in seconds
  int failures_ = 0;
};

}  // namespace fovea::test
