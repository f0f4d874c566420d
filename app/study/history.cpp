#include "study/history.h"

namespace fovea {

void History::start(Session session) {
  steps_ = {std::move(session)};
  at_ = 0;
  last_kind_.clear();
}

void History::record(const Session& session, const std::string& kind, Clock::time_point now) {
  if (steps_.empty()) return start(session);
  if (steps_[at_] == session) return;
  const bool same_step =
      at_ > 0 && !kind.empty() && kind == last_kind_ && now - last_time_ < together;
  steps_.resize(at_ + 1);
  if (same_step && steps_[at_ - 1] == session) {  // back where it was: no step at all
    steps_.pop_back();
    --at_;
    last_kind_.clear();
    return;
  }
  if (same_step) {
    steps_.back() = session;
  } else {
    steps_.push_back(session);
    if (steps_.size() > most_steps) steps_.erase(steps_.begin());
    at_ = steps_.size() - 1;
  }
  last_kind_ = kind;
  last_time_ = now;
}

const Session& History::undo() {
  last_kind_.clear();
  if (at_ > 0) --at_;
  return steps_[at_];
}

const Session& History::redo() {
  last_kind_.clear();
  if (can_redo()) ++at_;
  return steps_[at_];
}

}  // namespace fovea
