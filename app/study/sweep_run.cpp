#include "study/sweep_run.h"

#include <QPointer>
#include <algorithm>
#include <utility>

namespace fovea {

/// What one step on the engine's thread found.
struct SweepRun::Step {
  std::shared_ptr<Sweeper> sweeper;
  Sweep sweep;
  std::optional<Sweeper::Task> next;
  double spent = 0, left = 0;
};

SweepRun::SweepRun(Study& study, QObject* parent) : QObject(parent), study_(study) {
  timer_.setInterval(50);
  connect(&timer_, &QTimer::timeout, this, &SweepRun::look);
  for (const auto signal : {&Study::session_changed, &Study::columns_changed})
    connect(&study_, signal, this, [this] {
      if (running() && study_.problem() != problem_) stop();
    });
}

SweepRun::~SweepRun() {
  stop();
}

void SweepRun::start(const SweepLimits& limits, const QString& provenance) {
  stop();
  if (study_.paused()) study_.resume();  // who measures does not want all work cancelled any more
  provenance_ = provenance;
  problem_ = study_.problem();
  if (!problem_) return;
  columns_ = study_.session().columns;
  sweeper_ = std::make_shared<Sweeper>(*problem_, columns_, limits);
  sweep_ = sweeper_->sweep();
  status_ = {};
  last_.start();
  timer_.start();
  look();
  emit changed();
}

void SweepRun::stop() {
  if (!running()) return;
  study_.stop_sweep();
  sweeper_.reset();
  timer_.stop();
  status_ = {};
  emit changed();
}

bool SweepRun::stale() const {
  return problem_ && (study_.problem() != problem_ || study_.session().columns != columns_);
}

// A job that was stopped for something else is asked for again, once that is done.
void SweepRun::look() {
  if (study_.paused() || study_.problem() != problem_) return stop();
  const bool at_rest = study_.at_rest(), measuring = study_.status().tag == sweep_tag;
  if (job_.expired() && at_rest) submit();
  if (measuring && !at_rest) study_.stop_sweep();
  if (measuring) last_.start();
  constexpr int patience_ms = 500;  // between two steps others have short turns
  const bool waiting = last_.elapsed() > patience_ms;
  if (std::exchange(status_.waiting, waiting) != waiting) emit changed();
}

void SweepRun::submit() {
  const auto alive = std::make_shared<const int>();
  job_ = alive;
  // It may outlive this object, but not the study.
  study_.submit_sweep([study = &study_, self = QPointer(this), alive, sweeper = sweeper_](
                          const Backend& backend, std::stop_token stop, Progress& progress) {
    Profile profile;
    Run run{profile, stop, &progress};
    sweeper->step(backend, run);
    Step step{.sweeper = sweeper,
              .sweep = sweeper->sweep(),
              .next = sweeper->next(),
              .spent = sweeper->seconds_spent(),
              .left = sweeper->seconds_left()};
    QMetaObject::invokeMethod(
        study,
        [self, step = std::move(step)] {
          if (self) self->take(step);
        },
        Qt::QueuedConnection);
  });
}

void SweepRun::take(const Step& step) {
  if (step.sweeper != sweeper_) return;  // of a sweep that was stopped
  sweep_ = step.sweep;
  if (step.next) {
    status_.doing = QString("%1 at n = %2")
                        .arg(QString::fromStdString(label_of(sweep_, step.next->series)))
                        .arg(step.next->n);
    status_.seconds_left = step.left;
    status_.fraction = step.spent / std::max(1e-9, step.spent + step.left);
    job_.reset();
    last_.start();
    look();
  } else {
    sweeper_.reset();
    timer_.stop();
    status_ = {};
  }
  emit changed();
}

}  // namespace fovea
