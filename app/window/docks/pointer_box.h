// The PointerBox says what is under the cursor, and shows the chosen block of a rank map.
#pragma once

#include "study/study.h"
#include "window/widgets/readings.h"

namespace fovea {

/// Plots a block's singular values, largest first, on a logarithmic scale; those within the
/// numerical rank are filled.
class SingularValues : public QWidget {
  Q_OBJECT

 public:
  SingularValues();
  void show_values(const std::vector<float>& values, int rank);
  int count() const { return int(values_.size()); }

 protected:
  void paintEvent(QPaintEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;

 private:
  std::vector<float> values_;
  int rank_ = 0;
};

class PointerBox : public QWidget {
  Q_OBJECT

 public:
  explicit PointerBox(Study& study);

 private:
  void show_pair(const std::shared_ptr<const PairReading>& reading);
  void forget_pair();
  /// The pair in every column, with as many rows wherever the pointer is.
  std::vector<Reading> rows_of_columns() const;
  /// More of the pair in the column where it was read: the same rows for every column.
  std::vector<Reading> details(const PairReading& reading) const;
  /// The chosen block of a rank map, with its singular values.
  void show_block();
  QString on_a_line(const QString& text) const;

  Study& study_;
  QLabel *pair_hint_, *block_heading_;
  Readings *pair_, *block_;
  std::shared_ptr<const PairReading> pair_reading_;        // the last one; null if none
  int column_ = -1;                                        // under the pointer then
  HeadChoice head_;                                        // that it was read in
  std::vector<std::shared_ptr<const PairReading>> pairs_;  // of the columns; null if not read yet
  std::vector<Column> columns_;                            // that they were read in
  SingularValues* values_;
};

}  // namespace fovea
