#include "window/docks/head_scatter_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <algorithm>
#include <numeric>

#include "figure/layout.h"
#include "window/widgets/text.h"
#include "window/widgets/theme.h"

namespace fovea {

HeadScatterPlot::HeadScatterPlot() : FigureWidget("Heads by two measures") {
  setObjectName("head_scatter");
}

void HeadScatterPlot::show_heads(HeadScatter scatter) {
  scatter_ = std::move(scatter);
  setAccessibleDescription(scatter_.points.empty()
                               ? to_qt(scatter_.message)
                               : to_qt(plural(std::ssize(scatter_.points), "head")));
  if (chosen_ && *chosen_ >= scatter_.points.size()) choose(std::nullopt);
  lay_out();
}

void HeadScatterPlot::mark(const Head& head) {
  if (std::exchange(marked_, head) != head) update();
}

Figure HeadScatterPlot::figure_for(const FigureStyle& style) const {
  Figure figure;
  figure.style = style;
  figure.rows = {{make_panel(scatter_)}};
  return figure;
}

void HeadScatterPlot::lay_out() {
  put_screen_into(style_);
  spots_.clear();
  const Figure figure = shown_figure();
  for (const RowLayout& row : fovea::lay_out(figure, PaperLettering(style_)).rows)
    for (const CellLayout& cell : row.cells) {
      if (scatter_.points.empty()) continue;
      const drawing::Plot place{cell.plot, cell.axes};
      for (const HeadPoint& point : scatter_.points)
        spots_.push_back({place.x(point.x), place.y(point.y)});
    }
  update();
}

std::vector<QPointF> HeadScatterPlot::spots() const {
  auto spots = spots_;
  for (QPointF& at : spots) at *= pixels_a_point();
  return spots;
}

void HeadScatterPlot::paintEvent(QPaintEvent* event) {
  FigureWidget::paintEvent(event);
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  const auto ring = [&](std::size_t point, const drawing::Rgba& colour) {
    constexpr double radius = 6.5, width = 2;
    painter.setPen(QPen(qcolor(colour), width));
    painter.drawEllipse(spots_[point] * pixels_a_point(), radius, radius);
  };
  for (std::size_t p = 0; p < spots_.size(); ++p) {
    const HeadPoint& point = scatter_.points[p];
    if (Head{point.layer, point.head} == marked_) ring(p, window_style().approximate);
  }
  if (chosen_ && *chosen_ < spots_.size()) ring(*chosen_, window_style().text);
}

void HeadScatterPlot::choose(std::optional<std::size_t> point) {
  if (std::exchange(chosen_, point) == point) return;
  update();
  emit head_chosen();
}

std::optional<std::size_t> HeadScatterPlot::point_at(QPointF at) const {
  constexpr double reach = 14;  // pixels
  std::optional<std::size_t> nearest;
  double least = reach;
  for (std::size_t p = 0; p < spots_.size(); ++p) {
    const double distance = QLineF(spots_[p] * pixels_a_point(), at).length();
    if (distance >= least) continue;
    least = distance;
    nearest = p;
  }
  return nearest;
}

void HeadScatterPlot::mouseMoveEvent(QMouseEvent* event) {
  choose(point_at(event->position()));
}

void HeadScatterPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton) return;
  if (const auto point = point_at(event->position())) pick(*point);
}

void HeadScatterPlot::leaveEvent(QEvent* event) {
  FigureWidget::leaveEvent(event);
  choose(std::nullopt);
}

void HeadScatterPlot::keyPressEvent(QKeyEvent* event) {
  const int key = event->key();
  if (key == Qt::Key_Left || key == Qt::Key_Right) return step(key == Qt::Key_Right ? 1 : -1);
  if ((key == Qt::Key_Return || key == Qt::Key_Enter) && chosen_) return pick(*chosen_);
  QWidget::keyPressEvent(event);
}

void HeadScatterPlot::pick(std::size_t point) {
  emit head_picked({scatter_.points[point].layer, scatter_.points[point].head});
}

// To the next point along the axis of x.
void HeadScatterPlot::step(int by) {
  if (spots_.empty()) return;
  std::vector<std::size_t> order(spots_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t p) { return scatter_.points[p].x; });
  if (!chosen_) return choose(order.front());
  const auto now = std::ranges::find(order, *chosen_) - order.begin();
  choose(order[std::clamp<std::ptrdiff_t>(now + by, 0, std::ssize(order) - 1)]);
}

}  // namespace fovea

#include "moc_head_scatter_plot.cpp"
#include "views/views.h"
