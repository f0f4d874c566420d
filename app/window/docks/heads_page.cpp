#include "window/docks/heads_page.h"

#include <QComboBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QTableView>

#include "study/exploration_run.h"
#include "window/docks/heads_model.h"
#include "window/widgets/form.h"
#include "window/widgets/sorted_table.h"
#include "window/widgets/text.h"

namespace fovea {

HeadsPage::HeadsPage() {
  auto* column = new QVBoxLayout(this);
  column->setSpacing(rhythm);
  auto* row = make_inner<QHBoxLayout>();
  add_field(*row, "&Budget", budget_of_ = new QComboBox);
  budget_of_->addItem("Cost at most (share of exact)");
  budget_of_->addItem("Relative output error at most");
  budget_of_->setObjectName("explore_budget_of");
  row->addWidget(error_ = new QDoubleSpinBox);
  error_->setObjectName("explore_error");
  error_->setAccessibleName("Relative output error at most");
  error_->setDecimals(3);
  error_->setRange(0, 10);
  error_->setSingleStep(0.01);
  constexpr double standard_error = 0.05;
  error_->setValue(standard_error);
  error_->setVisible(false);
  row->addWidget(sum_ = make_note(), 1);
  sum_->setObjectName("explore_sum");
  column->addLayout(row);
  model_ = new HeadsModel(this);
  sorted_ = new SortedRows(*model_, HeadsModel::sort_role, this);
  column->addWidget(view_ = new QTableView, 1);
  view_->setObjectName("explore_heads");
  view_->setAccessibleName("The best choice for each head");
  show_rows(*view_, *sorted_);
  freeze_columns(*view_, HeadsModel::named_columns);
  connect(view_, &QTableView::activated, this, &HeadsPage::choose_trial);
  connect(budget_of_, &QComboBox::currentIndexChanged, this, [this](int place) {
    error_->setVisible(place == 1);
    emit budget_chosen();
  });
  connect(error_, &QDoubleSpinBox::valueChanged, this, &HeadsPage::budget_chosen);
}

Budget HeadsPage::budget() const {
  return budget_of_->currentIndex() == 0 ? cost_budget(cost_) : error_budget(error_->value());
}

const HeadTable& HeadsPage::head_table() const {
  return model_->table();
}

void HeadsPage::show_trials(const ExplorationRun& run, bool of_this_source,
                            const QString& message) {
  const auto trials = run.trials();
  HeadTable table = fovea::head_table(*trials, run.heads(), budget());
  if (!of_this_source) table.rows.clear();
  const bool no_errors = of_this_source && lack_values(run.heads());
  if (no_errors) table.rows.clear();
  sum_->setText(no_errors ? QString("Heads are not compared by their output errors: ") + no_values
                : table.rows.empty() ? message
                                     : to_qt(sum_text(table)));
  const bool was_empty = model_->columnCount() == 0 || model_->rowCount() == 0;
  model_->show_table(trials, std::move(table), run.source());
  if (was_empty || std::exchange(fits_complete_, run.complete()) != run.complete())
    view_->resizeColumnsToContents();
}

void HeadsPage::choose_trial(const QModelIndex& index) {
  if (const Trial* trial = model_->trial_at(sorted_->mapToSource(index))) emit trial_chosen(*trial);
}

}  // namespace fovea

#include "moc_heads_page.cpp"
