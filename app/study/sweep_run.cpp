#include "study/sweep_run.h"

#include <algorithm>

namespace fovea {
namespace {

std::vector<Column> swept_columns(const Study& study) {
  std::vector<Column> columns = study.session().columns;
  std::erase_if(columns, [](const Column& column) { return column.held.has_value(); });
  return columns;
}

}  // namespace

/// What one step on the engine's thread measured.
struct SweepRun::Step {
  Sweep sweep;
  std::optional<Sweeper::Task> next;
  double spent = 0, left = 0;
};

SweepRun::SweepRun(Study& study, QObject* parent) : QObject(parent), study_(study) {
  connect(&steps_, &BackgroundRun::changed, this, [this] {
    if (!running()) status_ = {};
    emit changed();
  });
}

SweepRun::~SweepRun() {
  stop();
}

void SweepRun::start(const SweepLimits& limits, const QString& provenance) {
  if (!can_start()) return;
  stop();
  provenance_ = provenance;
  problem_ = study_.problem();
  started_ = true;
  columns_ = swept_columns(study_);
  left_out_ = int(study_.session().columns.size() - columns_.size());
  const auto sweeper = std::make_shared<Sweeper>(*study_.problem(), columns_, limits);
  sweep_ = sweeper->sweep();
  status_ = {};
  steps_.start(
      [this, sweeper](const Backend& backend, Run& run) -> std::function<void()> {
        sweeper->step(backend, run);
        return [this, step = Step{sweeper->sweep(), sweeper->next(), sweeper->seconds_spent(),
                                  sweeper->seconds_left()}] { take(step); };
      },
      [this] { return study_.problem() == problem_.lock(); });
  emit changed();
}

bool SweepRun::can_start() const {
  return study_.problem() && study_.problem()->lengths().equal();
}

bool SweepRun::stale() const {
  return started_ && (study_.problem() != problem_.lock() || swept_columns(study_) != columns_);
}

void SweepRun::take(const Step& step) {
  sweep_ = step.sweep;
  if (!step.next) return stop();
  status_.doing = QString("%1 at n = %2")
                      .arg(QString::fromStdString(label_of(sweep_, step.next->series)))
                      .arg(step.next->n);
  status_.seconds_left = step.left;
  status_.fraction = step.spent / std::max(1e-9, step.spent + step.left);
  emit changed();
}

}  // namespace fovea

#include "moc_sweep_run.cpp"
