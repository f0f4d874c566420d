// A TriageRun finds the pattern of sparse prefill of every head of the study's source, in the
// background.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "study/background_run.h"
#include "sweep/head_triage.h"

namespace fovea {

class TriageRun : public QObject {
  Q_OBJECT

 public:
  explicit TriageRun(Study& study, QObject* parent = nullptr);
  ~TriageRun() override;

  /// Triages the heads by this rule, with the mask and the scale of the session. If nothing has
  /// changed since the last call, it goes on after pause(), and nothing happens after stop(), an
  /// error, or the end of all work.
  void want(const TriageRule& rule);
  /// Stops until want() or resume(). What was found is kept.
  void pause();
  /// Stops until resume(), or until want() is called for something else. What was found is kept.
  void stop() { steps_.stop(); }
  /// Goes on where it was stopped.
  void resume();
  bool running() const { return steps_.running(); }
  bool waiting() const { return steps_.waiting(); }  // for other requests
  const QString& waiting_text() const { return steps_.waiting_text(); }

  struct Row {
    ExploredHead head;
    std::optional<TriagedHead> triage;
    std::string error;  // why the head has no pattern
    bool done() const { return triage || !error.empty(); }
  };
  /// A row for each head that has a pattern of sparse prefill; the first ones are done.
  const std::vector<Row>& rows() const { return rows_; }
  std::size_t done() const { return done_; }
  bool complete() const { return done_ == rows_.size(); }
  /// How many other heads there are, and why.
  const std::vector<std::string>& left_out() const { return left_out_; }
  const TriageRule& rule() const { return of_.rule; }
  /// The source of the rows; null before want(), and after another source was opened.
  std::shared_ptr<const Source> source() const { return of_.source; }
  /// What computed, "12th Gen Intel, float32".
  const std::string& computed_on() const { return computed_on_; }

 signals:
  void changed();

 private:
  struct Subject {
    std::shared_ptr<const Source> source;
    HeadChoice choice;  // without layer and head
    int engine = 0;
    TriageRule rule;
    friend bool operator==(const Subject&, const Subject&) = default;
  };
  Subject present(const TriageRule& rule) const;
  void begin(Subject of);
  void go_on();
  void take(const Row& row);
  /// Forgets what was found: it is not kept beside another source.
  void leave();

  Study& study_;
  BackgroundRun steps_{study_, RequestKind::triage};
  Subject of_;
  std::vector<Row> rows_;
  std::size_t done_ = 0;
  bool halted_ = false;  // it ended before all heads were done, but not by pause()
  std::vector<std::string> left_out_;
  std::string computed_on_;
};

}  // namespace fovea
