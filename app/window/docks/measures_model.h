// A MeasuresModel has what each head of a source does, as Qt's views read it: a row for each head,
// a column for each measure.
#pragma once

#include <QAbstractTableModel>
#include <memory>
#include <utility>
#include <vector>

#include "report/measured_heads.h"
#include "study/study.h"

namespace fovea {

class MeasuresModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  using Head = HeadCards::Head;

  /// Numbers, to sort by: what is not there is no value.
  static constexpr int sort_role = Qt::UserRole;
  static constexpr int first_measure = 2;  // columns: layer, head, measures

  MeasuresModel(Study& study, QObject* parent) : QAbstractTableModel(parent), study_(study) {}
  /// Reads what the study has.
  void refresh();
  Head head_in(int row) const { return rows_[std::size_t(row)].head; }
  int row_of(const Head& head) const;  // -1: it is not there
  /// Null: not measured yet.
  const MeasuredHead* measured(int row) const { return rows_[std::size_t(row)].measured.get(); }
  int missing() const;  // heads that are not measured yet
  int failed() const;   // heads that cannot be measured
  /// Those that are measured.
  std::vector<MeasuredHeadRow> measured_rows() const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  struct Row {
    Head head;
    std::shared_ptr<const MeasuredHead> measured;
    std::string error;  // why it cannot be measured
    std::string layer;  // its label
  };
  const HeadValue* value_at(const QModelIndex& index) const;
  QString text_at(const QModelIndex& index) const;
  QVariant number_at(const QModelIndex& index) const;
  QString hint_at(const QModelIndex& index) const;

  Study& study_;
  std::weak_ptr<const Source> source_;  // of the rows; a closed dock holds no source
  std::vector<Row> rows_;
  Head opened_{-1, -1};
};

}  // namespace fovea
