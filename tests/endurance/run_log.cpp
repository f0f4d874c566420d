#include "endurance/run_log.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <stdexcept>

namespace fovea::test {

RunLog::RunLog(const std::string& path)
    : descriptor_(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)) {
  if (descriptor_ < 0) throw std::runtime_error("cannot write the log " + path);
  clock_.start();
}

RunLog::~RunLog() {
  ::close(descriptor_);
}

void RunLog::line(const std::string& text) {
  char time[32];
  std::snprintf(time, sizeof time, "%9.2f  ", seconds());
  const std::string whole = time + text + "\n";
  const std::lock_guard lock(mutex_);
  if (write(descriptor_, whole.data(), whole.size()) < 0)
    std::fputs("cannot write the log\n", stderr);
}

void RunLog::begin_action(int number, const std::string& name) {
  const std::string action = "#" + std::to_string(number) + " " + name;
  {
    const std::lock_guard lock(mutex_);
    action_ = action;
    action_began_ = seconds();
  }
  line(action);
}

void RunLog::failure(const std::string& text) {
  std::string action;
  {
    const std::lock_guard lock(mutex_);
    ++failures_;
    action = action_;
  }
  line("FAILURE: " + text);
  std::fprintf(stderr, "endurance: in %s: %s\n", action.c_str(), text.c_str());
}

double RunLog::seconds_in_action() const {
  const std::lock_guard lock(mutex_);
  return seconds() - action_began_;
}

int RunLog::failures() const {
  const std::lock_guard lock(mutex_);
  return failures_;
}

}  // namespace fovea::test
