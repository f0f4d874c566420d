#include "study/sweep_run.h"

#include <QPointer>
#include <algorithm>
#include <utility>

namespace fovea {

/// What one step on the engine's thread measured.
struct SweepRun::Step {
  Sweep sweep;
  std::optional<Sweeper::Task> next;
  double spent = 0, left = 0;
};

SweepRun::SweepRun(Study& study, QObject* parent) : QObject(parent), study_(study) {
  timer_.setInterval(50);
  connect(&timer_, &QTimer::timeout, this, &SweepRun::poll);
  for (const auto signal : {&Study::session_changed, &Study::columns_changed})
    connect(&study_, signal, this, [this] {
      if (running() && study_.problem() != problem_) stop();
    });
}

SweepRun::~SweepRun() {
  stop();
}

void SweepRun::start(const SweepLimits& limits, const QString& provenance) {
  if (!study_.problem()) return;
  stop();
  if (study_.paused()) study_.resume();  // measuring ends the cancellation of all work
  provenance_ = provenance;
  problem_ = study_.problem();
  columns_ = study_.session().columns;
  sweeper_ = std::make_shared<Sweeper>(*problem_, columns_, limits);
  sweep_ = sweeper_->sweep();
  status_ = {};
  last_.start();
  timer_.start();
  poll();
  emit changed();
}

void SweepRun::stop() {
  if (!running()) return;
  study_.requests().cancel({RequestKind::sweep});
  sweeper_.reset();
  timer_.stop();
  status_ = {};
  emit changed();
}

bool SweepRun::stale() const {
  return problem_ && (study_.problem() != problem_ || study_.session().columns != columns_);
}

// A step that was cancelled for another request is requested again, once that is done.
void SweepRun::poll() {
  if (study_.paused() || study_.problem() != problem_) return stop();
  const bool measuring = study_.status().runs(RequestKind::sweep);
  if (study_.panels_ready())
    request_step();
  else if (measuring)
    study_.requests().cancel({RequestKind::sweep});
  if (measuring) last_.start();
  constexpr int patience_ms = 500;  // between two steps other requests have short turns
  const bool waiting = last_.elapsed() > patience_ms;
  if (std::exchange(status_.waiting, waiting) != waiting) emit changed();
}

void SweepRun::request_step() {
  study_.requests().start(
      {RequestKind::sweep}, 0,
      [sweeper = sweeper_](const Backend& backend, Run& run) {
        sweeper->step(backend, run);
        return Step{sweeper->sweep(), sweeper->next(), sweeper->seconds_spent(),
                    sweeper->seconds_left()};
      },
      [self = QPointer(this), study = &study_, sweeper = sweeper_](const auto& step,
                                                                   const std::string& error) {
        if (!self || sweeper != self->sweeper_) return;  // that sweep was stopped
        if (step) return self->take(*step);
        self->stop();
        emit study->reported(QString::fromStdString(error));
      });
}

void SweepRun::take(const Step& step) {
  sweep_ = step.sweep;
  if (step.next) {
    status_.doing = QString("%1 at n = %2")
                        .arg(QString::fromStdString(label_of(sweep_, step.next->series)))
                        .arg(step.next->n);
    status_.seconds_left = step.left;
    status_.fraction = step.spent / std::max(1e-9, step.spent + step.left);
    last_.start();
    QMetaObject::invokeMethod(this, &SweepRun::poll, Qt::QueuedConnection);
  } else {
    sweeper_.reset();
    timer_.stop();
    status_ = {};
  }
  emit changed();
}

}  // namespace fovea
