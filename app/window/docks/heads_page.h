// A HeadsPage shows the best choice for each head under a budget, as a table. The budget of cost is
// shared with other pages.
#pragma once

#include <QWidget>

#include "sweep/head_table.h"

class QComboBox;
class QDoubleSpinBox;
class QLabel;
class QModelIndex;
class QTableView;

namespace fovea {

class ExplorationRun;
class HeadsModel;
class SortedRows;

class HeadsPage : public QWidget {
  Q_OBJECT

 public:
  HeadsPage();

  QTableView& table() { return *view_; }
  const HeadTable& head_table() const;
  /// Shows nothing unless the trials are `of_this_source`. `message` says why there is nothing to
  /// show.
  void show_trials(const ExplorationRun& run, bool of_this_source, const QString& message);
  /// The budget, as a share of exact attention's cost. The next trials are chosen by it.
  void set_cost(double at_most) { cost_ = at_most; }

 signals:
  void budget_chosen();
  void trial_chosen(const fovea::Trial& trial);

 private:
  Budget budget() const;
  void choose_trial(const QModelIndex& index);

  QComboBox* budget_of_;
  QDoubleSpinBox* error_;
  double cost_ = 0;
  QLabel* sum_;
  QTableView* view_;
  HeadsModel* model_;
  SortedRows* sorted_;
  bool fits_complete_ = false;  // the widths of the table's columns suit all trials
};

}  // namespace fovea
