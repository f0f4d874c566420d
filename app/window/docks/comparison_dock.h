// The ComparisonDock shows every measure of every column of the canvas, to be sorted and copied.
#pragma once

#include <QWidget>
#include <string>
#include <vector>

#include "analysis/comparison_table.h"

class QComboBox;
class QLabel;
class QMenu;
class QModelIndex;
class QTableWidget;

namespace fovea {

class Study;

class ComparisonDock : public QWidget {
  Q_OBJECT

 public:
  explicit ComparisonDock(Study& study);

  /// The id of the measure that sorts the columns; empty if they are as on the canvas.
  const std::string& sorted_by() const { return sorted_by_; }
  void sort_by(const std::string& id);

  QSize sizeHint() const override { return {900, 190}; }
  QSize minimumSizeHint() const override { return {480, 96}; }

 protected:
  void showEvent(QShowEvent*) override { refresh(); }
  /// In the table, Enter sorts by the measure of the current cell, and Space selects its column.
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QWidget* make_table();
  void sort_by_row(int row);
  void select_column(int place);
  void add_to_menu(QMenu& menu, const QModelIndex& cell);
  void refresh();
  void fill();

  Study& study_;
  QLabel* note_;
  QComboBox* sort_;
  QTableWidget* view_;
  ComparisonTable table_;           // as it is shown
  std::vector<std::size_t> order_;  // of the columns
  std::string sorted_by_;
};

}  // namespace fovea
