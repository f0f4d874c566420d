// A SpanTable is the attention mass between groups of tokens: a row for each group of queries, a
// column for each group of keys, shaded by the mass.
#pragma once

#include <QAbstractTableModel>
#include <memory>

#include "data/marked_table.h"
#include "study/span_readings.h"

namespace fovea {

/// What its cells say.
enum class SpanNumbers { both, exact, approximate, difference };

class SpanTable : public QAbstractTableModel {
  Q_OBJECT

 public:
  using QAbstractTableModel::QAbstractTableModel;

  /// Null: the table is empty. `title`: of the column that the reading is of.
  void show(std::shared_ptr<const SpanReading> reading, const QString& title, SpanNumbers numbers);
  const std::shared_ptr<const SpanReading>& reading() const { return reading_; }
  /// As it is shown.
  MarkedTable to_copy() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  QString text_of(const SpanMass::Cell& cell) const;
  QString tip_of(Index query, Index key) const;
  QVariant shade_of(const SpanMass::Cell& cell) const;

  std::shared_ptr<const SpanReading> reading_;
  QString title_;
  SpanNumbers numbers_ = SpanNumbers::both;
  double most_mass_ = 0, most_difference_ = 0;  // of a cell
};

/// "12–40"; one token: "12".
QString tokens_text(IndexRange tokens);

}  // namespace fovea
