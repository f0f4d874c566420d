#include "window/dialogs/sweep_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>

#include "window/widgets/theme.h"

namespace fovea {

SweepPlot::SweepPlot(QWidget* parent) : QWidget(parent) {
  setObjectName("sweep_plot");
  setAccessibleName("Time, memory and error against n");
  setMouseTracking(true);
  setFocusPolicy(Qt::StrongFocus);
}

void SweepPlot::show_sweep(const Sweep& sweep, SweepTime time, const QString& message) {
  figure_.sweep = sweep;
  figure_.time = time;
  figure_.message = message.toStdString();
  QStringList said;
  if (sweep.series.empty()) said << message;
  for (std::size_t s = 1; s < sweep.series.size(); ++s)
    said << QString::fromStdString(label_of(sweep, s) + ": " +
                                   to_text(crossover_of(sweep, s, time), sweep.complete));
  setAccessibleDescription(said.join("\n"));
  refresh();
}

SweepFigure SweepPlot::figure_for(const FigureStyle& style) const {
  SweepFigure figure = figure_;
  figure.style = style;
  figure.marked.reset();
  return figure;
}

void SweepPlot::refresh() {
  const double scale = pixels_a_point();
  figure_.style.dark = Theme::current().window == Theme::dark().window;
  figure_.style.font_size = font().pointSizeF() > 0 ? font().pointSizeF() : 9;
  figure_.style.width = width() / scale;
  figure_.style.height = height() / scale;
  spots_ = sweep_spots(figure_of(figure_));
  update();
}

std::vector<std::pair<QPointF, SweepSpot>> SweepPlot::spots() const {
  auto spots = spots_;
  for (auto& [at, spot] : spots) at *= pixels_a_point();
  return spots;
}

void SweepPlot::choose(std::optional<SweepSpot> spot) {
  if (spot == figure_.marked) return;
  figure_.marked = spot;
  update();
  emit chosen(spot);
}

void SweepPlot::paintEvent(QPaintEvent*) {
  QPainter painter(this);
  painter.save();
  painter.scale(pixels_a_point(), pixels_a_point());
  draw_figure(painter, figure_of(figure_));
  painter.restore();
  if (!hasFocus()) return;
  painter.setPen(Theme::current().accent);
  painter.drawRect(rect().adjusted(0, 0, -1, -1));
}

void SweepPlot::resizeEvent(QResizeEvent* event) {
  QWidget::resizeEvent(event);
  refresh();
}

void SweepPlot::changeEvent(QEvent* event) {
  QWidget::changeEvent(event);
  if (event->type() == QEvent::PaletteChange || event->type() == QEvent::StyleChange) refresh();
}

void SweepPlot::mouseMoveEvent(QMouseEvent* event) {
  constexpr double reach = 14;  // pixels
  std::optional<SweepSpot> nearest;
  double least = reach;
  for (const auto& [at, spot] : spots()) {
    const double distance = QLineF(at, event->position()).length();
    if (distance >= least) continue;
    least = distance;
    nearest = spot;
  }
  choose(nearest);
}

void SweepPlot::keyPressEvent(QKeyEvent* event) {
  switch (event->key()) {
    case Qt::Key_Left:
      return step(0, -1);
    case Qt::Key_Right:
      return step(0, 1);
    case Qt::Key_Up:
      return step(-1, 0);
    case Qt::Key_Down:
      return step(1, 0);
    default:
      QWidget::keyPressEvent(event);
  }
}

// To the next point that was measured in that direction.
void SweepPlot::step(int series, int length) {
  const Sweep& sweep = figure_.sweep;
  if (sweep.series.empty() || sweep.series.front().points.empty()) return;
  if (!figure_.marked || figure_.marked->series >= sweep.series.size())
    return choose(SweepSpot{0, sweep.series.front().points.front().n});
  const auto at = std::ranges::find(sweep.lengths, figure_.marked->n) - sweep.lengths.begin();
  auto s = static_cast<std::ptrdiff_t>(figure_.marked->series) + series;
  auto l = at + length;
  for (; s >= 0 && s < std::ssize(sweep.series) && l >= 0 && l < std::ssize(sweep.lengths);
       s += series, l += length) {
    const Index n = sweep.lengths[static_cast<std::size_t>(l)];
    if (sweep.series[static_cast<std::size_t>(s)].at(n))
      return choose(SweepSpot{static_cast<std::size_t>(s), n});
  }
}

}  // namespace fovea
