#include "study/session_history.h"

#include <algorithm>
#include <utility>

namespace fovea {
namespace {

constexpr std::chrono::seconds soon{1};  // after each other

}  // namespace

SessionHistory::SessionHistory(Study& study) : study_(study) {
  // Other patches are a step from the moment they are chosen.
  connect(&study_, &Study::opened, this, [this](bool new_source) {
    if (!new_source && !steps_.empty()) steps_[at_].session = study_.session();
  });
  connect(&study_, &Study::not_opened, this, [this] {
    going_to_.reset();
    if (!study_.opening()) keep_shown_content();
  });
  connect(&study_, &Study::leaving, this, &SessionHistory::leave);
}

void SessionHistory::change(const std::string& kind, const std::function<void(Session&)>& edit) {
  change(kind, soon, edit);
}

void SessionHistory::change_during_run(const std::string& kind,
                                       const std::function<void(Session&)>& edit) {
  change(kind, std::chrono::hours(24), edit);
}

void SessionHistory::change(const std::string& kind, std::chrono::milliseconds together,
                            const std::function<void(Session&)>& edit) {
  Session next = study_.session();
  edit(next);
  next = study_.fitting(std::move(next));
  if (next == study_.session()) return;
  record(study_.when_reopened(next), kind, together);
  study_.set_session(std::move(next));
}

void SessionHistory::amend(Session session) {
  study_.set_session(std::move(session));
  if (steps_.empty() || steps_[at_].session.source != study_.session().source) return;
  steps_[at_].session = study_.session();
}

void SessionHistory::change_content(const std::string& kind,
                                    const std::function<void(Session&)>& edit) {
  Session next = study_.session();
  edit(next);
  if (same_content(next, study_.session())) {
    record(study_.session(), kind, soon);
    return study_.keep_content();
  }
  change(kind, [&](Session& s) {
    edit(s);
    s.viewport = {};  // all of it, however many tokens that are
    s.pinned_query.reset();
    s.spans.clear();
  });
}

// A text that its model was still reading is there again after undo.
void SessionHistory::leave() {
  if (steps_.empty()) return;
  const Session& left = study_.wanted_session();
  steps_[at_].session = left;
  visit().content_hash = left.source == study_.session().source ? study_.content_hash() : "";
  visit().selected_column = study_.selected_column();
}

void SessionHistory::start() {
  last_kind_.clear();
  const auto arrived = std::exchange(going_to_, {});
  if (arrived && study_.fitting(steps_[*arrived].session) == study_.session()) {
    at_ = *arrived;
    steps_[at_].session = study_.session();
    study_.keep_waiting(visit().waiting);
    return;
  }
  if (!steps_.empty()) steps_.resize(at_ + 1);
  steps_.push_back({study_.session(), visits_.size()});
  visits_.emplace_back().waiting = study_.waiting_columns();
  forget_first_steps();
  at_ = steps_.size() - 1;
}

void SessionHistory::record(const Session& session, const std::string& kind,
                            std::chrono::milliseconds together) {
  if (steps_.empty()) return start();
  if (steps_[at_].session == session) return;
  const auto now = std::chrono::steady_clock::now();
  const std::size_t visit = steps_[at_].visit;
  const bool same_step = at_ > 0 && steps_[at_ - 1].visit == visit && !kind.empty() &&
                         kind == last_kind_ && now - last_time_ < together;
  steps_.resize(at_ + (same_step ? 0 : 1));
  if (going_to_ >= steps_.size()) going_to_.reset();
  last_kind_ = kind;
  last_time_ = now;
  if (same_step && steps_.back().session == session) {  // back where it was: no step at all
    last_kind_.clear();
  } else {
    steps_.push_back({session, visit});
    forget_first_steps();
  }
  at_ = steps_.size() - 1;
}

void SessionHistory::forget_first_steps() {
  constexpr std::size_t most_steps = 200;
  if (steps_.size() <= most_steps) return;
  steps_.erase(steps_.begin());
  if (going_to_) going_to_ = *going_to_ > 0 ? std::optional(*going_to_ - 1) : std::nullopt;
}

// No step may open content again that was refused or cancelled: other patches, or another text for
// a model. What was changed while it was being opened stays.
void SessionHistory::keep_shown_content() {
  const Session& shown = study_.session();
  if (steps_.empty() || same_content(steps_[at_].session, shown)) return;
  const Session refused = steps_[at_].session;
  const std::size_t visit = steps_[at_].visit;
  for (Step& step : steps_)
    if (step.visit == visit && same_content(step.session, refused))
      step.session = with_content_of(shown, std::move(step.session));
  steps_.erase(std::unique(steps_.begin(), steps_.end()), steps_.end());
  last_kind_.clear();
  const auto last = std::find(steps_.rbegin(), steps_.rend(), Step{shown, visit});
  if (last != steps_.rend()) {
    at_ = static_cast<std::size_t>(steps_.rend() - last) - 1;
    return;
  }
  const auto first = std::ranges::find(steps_, visit, &Step::visit);
  steps_.erase(first, steps_.end());
  steps_.push_back({shown, visit});
  at_ = steps_.size() - 1;
}

bool SessionHistory::reopens() const {
  return going_to_ && study_.is_opening(steps_[*going_to_].session);
}

std::optional<std::string> SessionHistory::opening_after(std::size_t step) const {
  if (step >= steps_.size() || step + 1 == steps_.size() ||
      steps_[step].visit == steps_[step + 1].visit)
    return {};
  return steps_[step + 1].session.source;
}

void SessionHistory::go_to(std::size_t step) {
  if (step >= steps_.size()) return;
  last_kind_.clear();
  const Session& session = steps_[step].session;
  if (steps_[step].visit != steps_[at_].visit) {
    const Visit& visit = visits_[steps_[step].visit];
    going_to_ = step;
    emit reopening(session.source, visit);
    return study_.open(session.source, session, visit.content_hash);
  }
  if (reopens()) study_.cancel_opening();
  going_to_.reset();
  at_ = step;
  if (same_content(session, study_.session())) study_.keep_content();
  study_.set_session(session);
}

}  // namespace fovea

#include "moc_session_history.cpp"
