#include "window/widgets/floating_bars.h"

#include <QEvent>
#include <QVBoxLayout>
#include <algorithm>

#include "window/widgets/form.h"

namespace fovea {

FloatingBars::FloatingBars(QWidget& below) : below_(below), stack_(new QWidget(this)) {
  auto* column = new QVBoxLayout(stack_);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(rhythm / 2);
  // A bar that is wider than the widget is cut rather than make the window wider.
  column->setSizeConstraint(QLayout::SetNoConstraint);
  stack_->hide();
  stack_->installEventFilter(this);
  below_.setParent(this);
  below_.lower();
  setMinimumSize(below_.minimumSize());
}

void FloatingBars::add(QWidget& bar) {
  stack_->layout()->addWidget(&bar);
  bar.setAutoFillBackground(true);
  bar.installEventFilter(this);
  place();
}

void FloatingBars::resizeEvent(QResizeEvent*) {
  place();
}

bool FloatingBars::eventFilter(QObject* watched, QEvent* event) {
  const auto type = event->type();
  // place() alone shows and hides the stack.
  const bool comes_or_goes = type == QEvent::ShowToParent || type == QEvent::HideToParent;
  if (type == QEvent::LayoutRequest || (comes_or_goes && watched != stack_)) place();
  return QWidget::eventFilter(watched, event);
}

int FloatingBars::height_of_bars(int width) const {
  QLayout& bars = *stack_->layout();
  bool visible = false;
  for (int b = 0; b < bars.count(); ++b) visible |= !bars.itemAt(b)->widget()->isHidden();
  if (!visible) return 0;
  return bars.hasHeightForWidth() ? bars.heightForWidth(width) : bars.sizeHint().height();
}

void FloatingBars::place() {
  below_.setGeometry(rect());
  constexpr int margin = rhythm / 2;
  const int room = std::max(0, width() - 2 * margin), needed = height_of_bars(room);
  if (needed > 0) stack_->setGeometry(margin, height() - margin - needed, room, needed);
  stack_->setVisible(needed > 0);
}

}  // namespace fovea
