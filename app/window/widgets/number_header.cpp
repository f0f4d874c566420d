#include "window/widgets/number_header.h"

#include <QPainter>
#include <algorithm>

#include "figure/painter_ink.h"
#include "window/widgets/theme.h"

namespace fovea {

QFont smaller(QFont font) {
  font.setPointSizeF(font.pointSizeF() * 0.8);
  return font;
}

NumberHeader::NumberHeader(Qt::Orientation orientation, QWidget* parent)
    : QHeaderView(orientation, parent) {
  setSectionResizeMode(Fixed);
  setMinimumSectionSize(1);
  setFocusPolicy(Qt::NoFocus);
}

void NumberHeader::mark(int section) {
  marked_ = section;
  viewport()->update();
}

QString NumberHeader::text(int section) const {
  return model()->headerData(section, orientation(), Qt::DisplayRole).toString();
}

QSize NumberHeader::room() const {
  const QFontMetrics metrics(smaller(font()));
  int widest = 0;
  for (int i = 0; i < count(); ++i) widest = std::max(widest, metrics.horizontalAdvance(text(i)));
  return {widest + 6, metrics.height() + 2};
}

int NumberHeader::step(int width) const {
  if (orientation() == Qt::Vertical) return 1;
  int step = 1;
  for (const int next : {2, 5, 10, 20, 50})
    if (step * width < room().width()) step = next;
  return step;
}

void NumberHeader::paintSection(QPainter* painter, const QRect& rect, int section) const {
  const drawing::Style& style = window_style();
  painter->fillRect(rect, qcolor(style.paper));
  const int apart = step(rect.width());
  const bool marked = section == marked_;
  const bool beside = std::abs(section - marked_) < apart;
  if (!marked && (section % apart != 0 || beside)) return;
  painter->setFont(smaller(font()));
  painter->setPen(qcolor(marked ? style.text : style.faint));
  // A number may be wider than its cell.
  const int more = orientation() == Qt::Horizontal ? std::max(0, room().width() - rect.width()) : 0;
  painter->drawText(rect.adjusted(-more / 2, 0, (more + 1) / 2, 0), Qt::AlignCenter, text(section));
}

}  // namespace fovea
