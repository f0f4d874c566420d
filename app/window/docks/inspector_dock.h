// The InspectorDock says what is under the cursor and what is selected.
#pragma once

#include <QWidget>

#include "study/study.h"
#include "window/widgets/readings.h"

namespace fovea {

class SingularValues;

class InspectorDock : public QWidget {
  Q_OBJECT

 public:
  explicit InspectorDock(Study& study, QWidget* parent = nullptr);
  void show_pair(std::shared_ptr<const PairReading> reading, int column);
  /// The heaviest keys of a row: of the selected column, and of exact beside it.
  void show_row(std::shared_ptr<const RowReading> row);
  void show_exact_row(std::shared_ptr<const RowReading> row);
  void show_selection(std::shared_ptr<const SelectionReading> reading);
  /// The block of the column's rank map that holds the pair, with its singular values.
  void choose_block(int column, Index query, Index key);
  void refresh_block();

 private:
  QString position_text(Index i) const;
  void refresh_top_keys();

  struct ChosenBlock {
    int column;
    Index query, key;
  };

  Study& study_;
  QLabel *hint_, *selection_hint_;
  Readings *pair_, *selection_, *block_;
  QLabel *block_heading_, *top_heading_;
  Readings* top_keys_;
  std::shared_ptr<const RowReading> row_, exact_row_;
  SingularValues* values_;
  std::optional<ChosenBlock> chosen_;
};

}  // namespace fovea
