// A TriageModel is the triage of all heads as Qt's views read it: a row for each head.
#pragma once

#include <QAbstractTableModel>

#include "study/triage_run.h"

namespace fovea {

class TriageModel : public QAbstractTableModel {
  Q_OBJECT

 public:
  /// The role of numbers to sort by. A missing number is an invalid QVariant.
  static constexpr int sort_role = Qt::UserRole;
  static constexpr int named_columns = 2;  // the first ones, which say which head it is
  enum Column { layer, head, pattern, sizes, first_recall };
  static constexpr int pairs = first_recall + int(std::size(sparse_patterns)), remarks = pairs + 1;

  TriageModel(const TriageRun& run, QObject* parent) : QAbstractTableModel(parent), run_(run) {}
  /// Reads what the run has found.
  void refresh();
  const TriageRun::Row& row(int number) const { return run_.rows()[std::size_t(number)]; }
  /// The variant with the pairs of a cell's pattern: the head's own one, or that of a recall.
  /// Nothing if no variant has them.
  std::optional<OwnSetting> setting_at(const QModelIndex& cell) const;

  int rowCount(const QModelIndex& parent = {}) const override;
  int columnCount(const QModelIndex& parent = {}) const override;
  QVariant data(const QModelIndex& index, int role) const override;
  QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

 private:
  static bool is_words(int column) {
    return column == layer || column == pattern || column == sizes || column == remarks;
  }
  QString text_at(const QModelIndex& index) const;
  QVariant number_at(const QModelIndex& index) const;
  QString hint_at(const QModelIndex& index) const;

  const TriageRun& run_;
  std::weak_ptr<const Source> source_;  // of the rows that are shown
  int rows_ = 0;
  std::size_t done_ = 0;
};

}  // namespace fovea
