#include "window/widgets/figure_widget.h"

#include <QEvent>
#include <QPainter>

#include "figure/painter_ink.h"
#include "window/widgets/theme.h"

namespace fovea {

FigureWidget::FigureWidget(const QString& name) {
  setAccessibleName(name);
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
}

void FigureWidget::put_screen_into(FigureStyle& style) const {
  style.dark = window_is_dark();
  style.font_size = font().pointSizeF() > 0 ? font().pointSizeF() : 9;
  style.width = width() / pixels_a_point();
  style.height = height() / pixels_a_point();
}

void FigureWidget::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.save();
  painter.scale(pixels_a_point(), pixels_a_point());
  draw_figure(painter, shown_figure());
  painter.restore();
  if (!hasFocus()) return;
  painter.setPen(qcolor(window_style().accent));
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void FigureWidget::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  lay_out();
}

void FigureWidget::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange ||
      event->type() == QEvent::FontChange)
    lay_out();
}

}  // namespace fovea

#include "moc_figure_widget.cpp"
