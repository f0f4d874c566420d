#include "study/background_run.h"

#include <QPointer>
#include <utility>

namespace fovea {

BackgroundRun::BackgroundRun(Study& study, RequestKind kind) : study_(study), kind_(kind) {
  timer_.setInterval(50);
  connect(&timer_, &QTimer::timeout, this, &BackgroundRun::poll);
  for (const auto signal : {&Study::session_changed, &Study::columns_changed})
    connect(&study_, signal, this, [this] {
      if (running() && !wanted_()) stop();
    });
}

void BackgroundRun::start(Step step, std::function<bool()> wanted) {
  stop();
  if (study_.paused()) study_.resume();  // measuring ends the cancellation of all work
  step_ = std::make_shared<const Step>(std::move(step));
  wanted_ = std::move(wanted);
  engine_ = study_.requests().engine_number();
  last_.start();
  timer_.start();
  poll();
}

void BackgroundRun::stop() {
  if (!running()) return;
  study_.requests().cancel({kind_});
  study_.requests().discard(std::move(step_));
  step_.reset();
  timer_.stop();
  waits_for_.clear();
  study_.go_on_measuring();
  emit changed();
}

// A step that was cancelled for another request is requested again, once that is done.
void BackgroundRun::poll() {
  if (!running()) return;
  if (study_.paused() || engine_ != study_.requests().engine_number() || !wanted_()) return stop();
  const bool measuring = study_.status().runs(kind_);
  if (study_.panels_ready())
    request_step();
  else if (measuring)
    study_.requests().cancel({kind_});
  if (measuring) last_.start();
  constexpr int patience_ms = 500;  // between two steps other requests have short turns
  const QString waits_for = last_.elapsed() > patience_ms ? name_what_runs() : QString();
  if (std::exchange(waits_for_, waits_for) != waits_for) emit changed();
}

QString BackgroundRun::name_what_runs() const {
  const Engine::Status status = study_.status();
  return status.busy() ? QString("Waiting for: ") + traits_of(*status.running).text
                       : "Waiting while the window computes";
}

void BackgroundRun::request_step() {
  study_.requests().start(
      {kind_}, 0,
      [step = step_](const Backend& backend, Run& run) { return (*step)(backend, run); },
      [self = QPointer(this), study = &study_, step = std::weak_ptr(step_)](
          const auto& take, const std::string& error) {
        const auto is_current = [&] {
          return self && self->running() && step.lock() == self->step_;
        };
        if (!is_current()) return;  // that run was stopped
        if (!take) {
          self->stop();
          emit study->reported(QString::fromStdString(error));
          return;
        }
        self->last_.start();
        (*take)();
        if (!is_current()) return;
        QMetaObject::invokeMethod(self, &BackgroundRun::poll, Qt::QueuedConnection);
      });
}

}  // namespace fovea

#include "moc_background_run.cpp"
