#include "window/docks/column_dock.h"

#include <QCheckBox>

#include "analysis/measures.h"
#include "session/held_head.h"
#include "study/session_editor.h"
#include "variants/described_variant.h"
#include "window/docks/answer_box.h"
#include "window/docks/failure_box.h"
#include "window/docks/learning_box.h"
#include "window/docks/parameter_form.h"
#include "window/docks/pointer_box.h"
#include "window/docks/selection_box.h"
#include "window/widgets/fold.h"
#include "window/widgets/form.h"
#include "window/widgets/readings.h"
#include "window/widgets/text.h"

namespace fovea {

ColumnDock::ColumnDock(Study& study, SessionEditor& editor, LearningRun& learning)
    : study_(study), editor_(editor) {
  QVBoxLayout* page = make_page(*this);
  page->addWidget(nothing_ = make_note("Nothing is open."));
  contents_ = new QWidget;
  contents_->hide();  // until there is something to show
  page->addWidget(contents_);
  page->addStretch(1);
  auto* column = make_inner<QVBoxLayout>(contents_);
  column->addWidget(name_ = make_heading());
  column->addWidget(new Fold("answer", "Answer", answer_ = new AnswerBox(study)));
  auto* selection = new Fold("selection", "Selection", new SelectionBox(study));
  selection->hide();
  connect(&study, &Study::selection_read, selection,
          [selection](const auto& reading) { selection->setVisible(reading != nullptr); });
  column->addWidget(selection);
  failure_ = new FailureBox(study);
  column->addWidget(failure_fold_ = new Fold("failure", "Failure", failure_));
  column->addWidget(parameters_fold_ =
                        new Fold("parameters", "Parameters", make_parameters(learning)));
  pointer_ = new PointerBox(study);
  column->addWidget(new Fold("pointer", "Under the pointer", pointer_));
  column->addWidget(measures_fold_ = new Fold("measures", "All measures", make_measures(), false));
  for (QLabel* text : {name_, summary_, formula_, paper_}) make_selectable(*text);
  connect(&study, &Study::opened, this, [this] {
    nothing_->hide();
    contents_->show();
  });
  connect(&study, &Study::session_changed, this, &ColumnDock::refresh);
  connect(&study, &Study::columns_changed, this, &ColumnDock::refresh);
  connect(failure_fold_, &Fold::toggled, this, &ColumnDock::failure_visibility_changed);
}

QWidget* ColumnDock::make_parameters(LearningRun& learning) {
  auto* body = new QWidget;
  auto* column = make_inner<QVBoxLayout>(body);
  column->addWidget(form_ = new ParameterForm(study_, editor_));
  column->addWidget(learning_ = new LearningBox(study_, learning));
  hold_ = new QCheckBox("Keep this head");
  hold_->setToolTip(
      "The column stays with this head while others, also of other files with as many tokens, "
      "are opened beside it");
  connect(hold_, &QCheckBox::clicked, this, [this](bool on) { editor_.hold_head(on); });
  column->addWidget(hold_);
  column->addWidget(summary_ = make_note());
  column->addWidget(formula_ = make_note());
  formula_->setProperty("style", "formula");
  column->addWidget(paper_ = make_note());
  return body;
}

QWidget* ColumnDock::make_measures() {
  return measures_ = new Readings("Against exact");
}

bool ColumnDock::shows_failure() const {
  return isVisible() && failure_fold_->is_open();
}

void ColumnDock::showEvent(QShowEvent* event) {
  QWidget::showEvent(event);
  emit failure_visibility_changed();
}

void ColumnDock::hideEvent(QHideEvent* event) {
  QWidget::hideEvent(event);
  emit failure_visibility_changed();
}

void ColumnDock::refresh() {
  const auto index = std::size_t(std::max(0, study_.selected_column()));
  if (index >= study_.columns().size()) return;
  const ColumnState& state = study_.columns()[index];
  const Column& column = study_.session().columns[index];
  name_->setText(to_qt(study_.title_of(int(index))));
  answer_->refresh();
  // An attention matrix by itself is not a variant.
  const bool matrix = study_.shows_matrix();
  failure_fold_->setVisible(!matrix);
  parameters_fold_->setVisible(!matrix);
  measures_fold_->setVisible(!matrix);
  if (matrix) return form_->forget_variant();
  form_->show_column(index);
  const Variant& variant =
      described_variant(find_variant(column.variant), study_.head_of(state).problem.get());
  summary_->setText(to_qt(variant.summary));
  formula_->setText(to_qt(variant.formula));
  paper_->setText(to_qt(variant.paper));
  show_held(column, study_.head_of(state));
  learning_->refresh();
  show_measures(state);
}

void ColumnDock::show_held(const Column& column, const HeadState& head) {
  hold_->setChecked(column.held.has_value());
  hold_->setText(column.held ? "Keeps " + to_qt(label_of(*column.held, head.source.get()))
                             : "Keep this head");
}

void ColumnDock::show_measures(const ColumnState& state) {
  std::vector<Reading> rows;
  const bool reference = is_reference(state.column.variant);
  const Evaluation known{.cost = state.computation ? &state.computation->cost : nullptr,
                         .metrics = reference ? nullptr : state.metrics.get(),
                         .sections = sections_of(state)};
  for (const Measure& measure : measures())
    if (const auto measured = measure.of(known))
      rows.push_back(
          {to_qt(measure.label), to_qt(to_text(measure, *measured)), to_qt(measure.definition)});
  if (state.diagnostics)
    for (const Diagnostic& d : *state.diagnostics)
      if (d.words.empty()) rows.push_back({to_qt(d.label), to_qt(to_text(d)), to_qt(d.meaning)});
  measures_->set_rows(rows);
}

}  // namespace fovea

#include "moc_column_dock.cpp"
