#include "window/widgets/sorted_table.h"

#include <QHeaderView>
#include <QTableView>

namespace fovea {

SortedRows::SortedRows(QAbstractItemModel& source, int sort_role, QObject* parent)
    : QSortFilterProxyModel(parent) {
  setSourceModel(&source);
  setSortRole(sort_role);
}

bool SortedRows::lessThan(const QModelIndex& left, const QModelIndex& right) const {
  const bool has_left = left.data(sortRole()).isValid(),
             has_right = right.data(sortRole()).isValid();
  if (has_left && has_right) return QSortFilterProxyModel::lessThan(left, right);
  const bool ascending = sortOrder() == Qt::AscendingOrder;
  return has_left != has_right && (has_left ? ascending : !ascending);
}

void show_rows(QTableView& view, SortedRows& rows) {
  view.setModel(&rows);
  view.setSortingEnabled(true);
  view.sortByColumn(-1, Qt::AscendingOrder);
  view.setSelectionBehavior(QAbstractItemView::SelectRows);
  view.setSelectionMode(QAbstractItemView::SingleSelection);
  view.setTabKeyNavigation(false);
  view.setShowGrid(false);  // as in the other tables
  view.setWordWrap(false);
  view.verticalHeader()->hide();
  view.verticalHeader()->setDefaultSectionSize(view.fontMetrics().height() + 6);
}

}  // namespace fovea
