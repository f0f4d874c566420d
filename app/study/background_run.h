// A BackgroundRun measures in steps on a study's engine while the window has nothing to compute:
// what a person does goes first.
#pragma once

#include <QElapsedTimer>
#include <QObject>
#include <QTimer>
#include <functional>
#include <memory>

#include "study/study.h"

namespace fovea {

class BackgroundRun : public QObject {
  Q_OBJECT

 public:
  /// One step, on the engine's thread. The function that it returns is called on the application's
  /// thread. It is dropped if the run was stopped, or if another request cancels the step just as
  /// it ends; then the run goes on. So what has been delivered is recorded in that function, not in
  /// the step.
  using Step = std::function<std::function<void()>(const Backend& backend, Run& run)>;

  /// `kind` of its requests: no other run of the study has it.
  BackgroundRun(Study& study, RequestKind kind);
  ~BackgroundRun() override { stop(); }

  /// Steps follow each other until stop(); it also ends where `wanted` is false, where all work is
  /// cancelled, with another back end, and with an error, which the study reports.
  void start(Step step, std::function<bool()> wanted);
  void stop();
  bool running() const { return step_ != nullptr; }
  /// For other requests.
  bool waiting() const { return !waits_for_.isEmpty(); }
  /// "Waiting for: Trying settings"; empty if it does not wait.
  const QString& waiting_text() const { return waits_for_; }

 signals:
  /// It began or ended to wait, it waits for something else, or it ended.
  void changed();

 private:
  void poll();
  void request_step();
  QString name_what_runs() const;

  Study& study_;
  RequestKind kind_;
  std::shared_ptr<const Step> step_;  // null: not running
  std::function<bool()> wanted_;
  int engine_ = 0;
  QString waits_for_;
  QTimer timer_;
  QElapsedTimer last_;  // since a step was running
};

}  // namespace fovea
