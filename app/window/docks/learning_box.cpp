#include "window/docks/learning_box.h"

#include <QLabel>
#include <QPushButton>
#include <cmath>

#include "data/number_text.h"
#include "study/learning_run.h"
#include "window/widgets/form.h"
#include "window/widgets/text.h"

namespace fovea {
namespace {

constexpr double near_zeros = 0.8;  // of the error of an output of zeros, which is 1

}  // namespace

LearningBox::LearningBox(Study& study, LearningRun& run) : study_(study), run_(run) {
  auto* column = make_inner<QVBoxLayout>(this);
  auto* line = make_inner<QHBoxLayout>();
  line->addWidget(learn_ = new QPushButton);
  learn_->setObjectName("learn");
  learn_->setToolTip(
      "Learn the tree and, for Treeformer TC, alpha: gradient steps on the output error against "
      "exact attention, from a median tree. The column shows the best tree so far.");
  line->addWidget(revert_ = new QPushButton("Re&vert"));
  revert_->setObjectName("revert_learning");
  revert_->setToolTip("The column as it was before it learned");
  line->addStretch(1);
  column->addLayout(line);
  column->addWidget(progress_ = make_note());
  progress_->setObjectName("learning_progress");
  make_selectable(*progress_);
  connect(learn_, &QPushButton::clicked, this, [this] {
    const auto column = std::size_t(study_.selected_column());
    if (run_.running() && run_.column_of_run() == column)
      run_.pause();
    else if (study_.learns(column))
      study_.cancel_learning(column);
    else
      run_.learn();
  });
  connect(revert_, &QPushButton::clicked, &run_, &LearningRun::revert);
  connect(&run_, &LearningRun::changed, this, &LearningBox::refresh);
}

void LearningBox::refresh() {
  const auto column = std::size_t(study_.selected_column());
  const bool there = column < study_.columns().size() && !study_.shows_matrix() &&
                     run_.can_learn(study_.columns()[column]);
  setVisible(there);
  if (!there) return;
  const bool its_own = run_.column_of_run() == column;
  const std::string& kept = study_.columns()[column].tree_learned_on;
  const bool waits = study_.learns(column);
  learn_->setText(its_own && run_.running()      ? "&Pause"
                  : its_own && run_.can_resume() ? "&Resume learning"
                  : waits                        ? "&Cancel learning"
                  : !kept.empty()                ? "&Learn again"
                                                 : "&Learn the tree");
  revert_->setVisible(its_own && run_.can_revert());
  const bool values = study_.head_of(study_.columns()[column]).problem->has_values();
  learn_->setEnabled(values);
  progress_->setText(
      !values         ? QString("No tree can be learned: ") + no_values
      : its_own       ? text()
      : waits         ? QString("The tree of this column is being learned for this head.")
      : !kept.empty() ? QString("This tree was learned on %1, and is kept until you learn again.")
                            .arg(to_qt(kept))
                      : QString());
  progress_->setVisible(!progress_->text().isEmpty());
}

QString LearningBox::text() const {
  const MeasuredTree* best = run_.best();
  if (!best) return run_.running() ? "Learning…" : QString();
  const LearningRecord& record = run_.record();
  QString text = "Step " + QString::number(run_.steps());
  if (run_.waiting()) text += ", waiting while the window computes";
  if (run_.diverged())
    text += ": the loss was no longer a number, so learning has stopped; the best tree is kept";
  text +=
      QString(". Relative output error %1 on the rows learned from").arg(number_text(best->error));
  if (!std::isnan(best->held_out_error))
    text += QString(", %1 on rows held out (median tree: %2)")
                .arg(number_text(best->held_out_error), number_text(record.start.held_out_error));
  text += QString("; χ × leaves %1 (limit %2).")
              .arg(number_text(best->cost(record.leaves)), number_text(record.cost_limit));
  if (const std::string sample = sample_text(record.tokens); !sample.empty())
    text += " On " + to_qt(sample) + ".";
  const double judged = std::isnan(best->held_out_error) ? best->error : best->held_out_error;
  if (judged > near_zeros)
    text +=
        " An output of zeros has the error 1: tree attention needs a model that was trained "
        "with it.";
  return text;
}

}  // namespace fovea
