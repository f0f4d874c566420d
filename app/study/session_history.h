// A SessionHistory changes the Session of a Study. Every change is a step of undo, and so is every
// source that is opened: the step before opens the one before again, as it was left.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/study.h"

namespace fovea {

/// What is known of a source, beside its Sessions, when another one is opened.
struct Visit {
  std::string session_file;  // that it was opened from or saved to; empty if none
  std::string content_hash;
  int selected_column = 0;
  std::vector<WaitingColumn> waiting;  // as Study has them
};

class SessionHistory : public QObject {
  Q_OBJECT

 public:
  explicit SessionHistory(Study& study);

  /// Steps of one `kind` soon after each other are one: a slider dragged, a pan. An empty kind is
  /// always a step of its own.
  void change(const std::string& kind, const std::function<void(Session&)>& edit);
  /// The same, but steps of the kind are one however long after each other they are: what a run
  /// changes while a person looks on.
  void change_during_run(const std::string& kind, const std::function<void(Session&)>& edit);
  /// Another source was opened: a step, unless it was opened by undo or redo.
  void start();
  bool can_undo() const { return target() > 0; }
  bool can_redo() const { return target() + 1 < steps_.size(); }
  void undo() { go_to(target() - 1); }
  void redo() { go_to(target() + 1); }
  /// The source whose opening undo takes back, or redo repeats; nothing for a change of a Session.
  std::optional<std::string> opening_to_undo() const { return opening_after(target() - 1); }
  std::optional<std::string> opening_to_redo() const { return opening_after(target()); }
  /// The visit to the source that is shown.
  Visit& visit() { return visits_[steps_[at_].visit]; }

 signals:
  /// Undo or redo opens a source again.
  void reopening(const std::string& source, const fovea::Visit& visit);

 protected:
  /// Changes what the source is read from: other patches, or another text for a model. The whole
  /// head is in sight then, and nothing is marked.
  void change_content(const std::string& kind, const std::function<void(Session&)>& edit);
  /// Changes the Session and its step, without a new one.
  void amend(Session session);

  Study& study_;

 private:
  struct Step {
    Session session;
    std::size_t visit = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };

  void change(const std::string& kind, std::chrono::milliseconds together,
              const std::function<void(Session&)>& edit);
  void record(const Session& session, const std::string& kind, std::chrono::milliseconds together);
  void forget_first_steps();
  void keep_shown_content();
  void go_to(std::size_t step);  // nothing happens where there is none
  /// Whether the source of a step is being opened to go there.
  bool reopens() const;
  /// Where undo and redo start from.
  std::size_t target() const { return reopens() ? *going_to_ : at_; }
  /// The source of the step after this one, if it is another visit.
  std::optional<std::string> opening_after(std::size_t step) const;
  void leave();

  std::vector<Step> steps_;  // those of a visit follow each other
  std::vector<Visit> visits_;
  std::size_t at_ = 0;  // the step that was chosen; while other patches open, not shown yet
  std::optional<std::size_t> going_to_;  // a step of another visit, when its source is there
  std::string last_kind_;
  std::chrono::steady_clock::time_point last_time_;
};

}  // namespace fovea
