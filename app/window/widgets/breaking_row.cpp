#include "window/widgets/breaking_row.h"

#include <QEvent>
#include <algorithm>

#include "window/widgets/form.h"

namespace fovea {

BreakingRow::BreakingRow() {
  // Until the width is known the groups lie below each other: the least width is that of one group.
  groups_ = new QBoxLayout(QBoxLayout::TopToBottom, this);
  groups_->setContentsMargins(0, 0, 0, 0);
  groups_->setSpacing(rhythm / 2);
  groups_->setSizeConstraint(QLayout::SetNoConstraint);
}

QHBoxLayout* BreakingRow::add_group() {
  auto* row = make_inner<QHBoxLayout>();
  groups_->addLayout(row);
  rows_.push_back(row);
  return row;
}

bool BreakingRow::event(QEvent* event) {
  const bool handled = QWidget::event(event);
  if (event->type() == QEvent::Resize || event->type() == QEvent::LayoutRequest) lay_out();
  return handled;
}

void BreakingRow::lay_out() {
  int beside = 0, widest = 0, height = 0;
  for (const QHBoxLayout* row : rows_) {
    const QSize least = row->minimumSize();
    beside += least.width() + (beside > 0 ? 2 * rhythm : 0);
    widest = std::max(widest, least.width());
    height = std::max(height, least.height());
  }
  const bool breaks = width() < beside;
  groups_->setDirection(breaks ? QBoxLayout::TopToBottom : QBoxLayout::LeftToRight);
  groups_->setSpacing(breaks ? rhythm / 2 : 2 * rhythm);
  const int rows = breaks ? int(rows_.size()) : 1;
  setMinimumSize(widest, rows * height + (rows - 1) * (rhythm / 2));
}

}  // namespace fovea
