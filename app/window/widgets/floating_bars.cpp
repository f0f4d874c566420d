#include "window/widgets/floating_bars.h"

#include <QEvent>
#include <QVBoxLayout>
#include <algorithm>

#include "window/widgets/form.h"

namespace fovea {

FloatingBars::FloatingBars(QWidget& below)
    : below_(below), top_(make_stack()), bottom_(make_stack()) {
  for (QWidget* stack : {top_, bottom_}) stack->installEventFilter(this);
  below_.setParent(this);
  below_.lower();
  setMinimumSize(below_.minimumSize());
}

QWidget* FloatingBars::make_stack() {
  auto* stack = new QWidget(this);
  auto* column = new QVBoxLayout(stack);
  column->setContentsMargins(0, 0, 0, 0);
  column->setSpacing(rhythm / 2);
  // A bar that is wider than the widget is cut rather than make the window wider.
  column->setSizeConstraint(QLayout::SetNoConstraint);
  stack->hide();
  return stack;
}

void FloatingBars::add(QWidget& stack, QWidget& bar) {
  stack.layout()->addWidget(&bar);
  bar.setAutoFillBackground(true);
  bar.installEventFilter(this);
  place();
}

void FloatingBars::resizeEvent(QResizeEvent*) {
  place();
}

bool FloatingBars::eventFilter(QObject* watched, QEvent* event) {
  const auto type = event->type();
  if (type == QEvent::ShowToParent || type == QEvent::HideToParent ||
      type == QEvent::LayoutRequest) {
    // The stacks are shown and hidden by place() alone.
    if (type == QEvent::LayoutRequest || (watched != top_ && watched != bottom_)) place();
  }
  return QWidget::eventFilter(watched, event);
}

int FloatingBars::height_of(const QWidget& stack, int width) {
  QLayout& bars = *stack.layout();
  bool visible = false;
  for (int b = 0; b < bars.count(); ++b) visible |= !bars.itemAt(b)->widget()->isHidden();
  if (!visible) return 0;
  return bars.hasHeightForWidth() ? bars.heightForWidth(width) : bars.sizeHint().height();
}

void FloatingBars::place() {
  below_.setGeometry(rect());
  constexpr int margin = rhythm / 2;
  const int room = std::max(0, width() - 2 * margin);
  for (QWidget* stack : {top_, bottom_}) {
    const int needed = height_of(*stack, room);
    const int y = stack == top_ ? margin : height() - margin - needed;
    if (needed > 0) stack->setGeometry(margin, y, room, needed);
    stack->setVisible(needed > 0);
  }
}

}  // namespace fovea
