// A History is the stack of Sessions behind undo and redo.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "session/session.h"

namespace fovea {

class History {
 public:
  using Clock = std::chrono::steady_clock;

  void start(Session session);
  /// Changes of the same `kind` soon after each other are one step: a slider dragged, a pan.
  void record(const Session& session, const std::string& kind,
              Clock::time_point now = Clock::now());
  bool can_undo() const { return at_ > 0; }
  bool can_redo() const { return at_ + 1 < steps_.size(); }
  const Session& undo();
  const Session& redo();

 private:
  static constexpr std::chrono::milliseconds together{1000};
  static constexpr std::size_t most_steps = 200;

  std::vector<Session> steps_;
  std::size_t at_ = 0;
  std::string last_kind_;
  Clock::time_point last_time_;
};

}  // namespace fovea
