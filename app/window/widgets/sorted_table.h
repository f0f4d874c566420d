// A table of heads that a click on a heading sorts.
#pragma once

#include <QFont>
#include <QSortFilterProxyModel>

class QTableView;

namespace fovea {

/// Sorts by what a role of the source model has; rows without a valid value come last, in ascending
/// and in descending order.
class SortedRows : public QSortFilterProxyModel {
 public:
  SortedRows(QAbstractItemModel& source, int sort_role, QObject* parent);

 protected:
  bool lessThan(const QModelIndex& left, const QModelIndex& right) const override;
};

/// What a model of these tables gives as Qt::TextAlignmentRole: words are on the left, numbers on
/// the right.
inline QVariant cell_alignment(bool is_words) {
  return int(Qt::AlignVCenter | (is_words ? Qt::AlignLeft : Qt::AlignRight));
}
/// What it gives as Qt::FontRole for a cell that stands out.
inline QVariant bold_font() {
  QFont font;
  font.setBold(true);
  return font;
}

/// Makes the view a table of these rows, in the order of the source model: one row is selected at a
/// time, and Tab goes on to the next widget.
void show_rows(QTableView& view, SortedRows& rows);

/// Keeps the first columns of the table in sight when it is scrolled to the right. They are shown
/// by another table that lies over the view.
void freeze_columns(QTableView& view, int count);

}  // namespace fovea
