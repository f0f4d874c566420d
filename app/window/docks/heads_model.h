// A HeadsModel is a HeadTable as Qt's views read it: a row for each head, a column for each
// variant.
#pragma once

#include <QAbstractTableModel>
#include <memory>
#include <vector>

#include "data/source.h"
#include "sweep/head_table.h"

namespace fovea {

class HeadsModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  /// The role of numbers to sort by; missing numbers are no values.
  static constexpr int sort_role = Qt::UserRole;
  static constexpr int named_columns = 2;  // the first ones, which say which head it is

  using QAbstractTableModel::QAbstractTableModel;

  /// The table points into the trials.
  void show_table(std::shared_ptr<const std::vector<Trial>> trials, HeadTable table,
                  std::shared_ptr<const Source> source);
  const HeadTable& table() const { return table_; }
  /// The trial of a cell: the choice of its row, or the best of a variant. Null if there is none.
  const Trial* trial_at(const QModelIndex& index) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  enum Column { layer, head, choice, parameters, error, cost, first_variant };
  static bool is_words(int column) {
    return column == layer || column == choice || column == parameters;
  }
  QString text_at(const HeadTable::Row& row, int column) const;
  QVariant number_at(const HeadTable::Row& row, int column) const;
  QString hint_at(const QModelIndex& index) const;

  std::shared_ptr<const std::vector<Trial>> trials_;
  std::shared_ptr<const Source> source_;
  HeadTable table_;
};

}  // namespace fovea
