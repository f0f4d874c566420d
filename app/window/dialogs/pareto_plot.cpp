#include "window/dialogs/pareto_plot.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QRubberBand>
#include <algorithm>
#include <tuple>

#include "figure/layout.h"
#include "window/widgets/text.h"

namespace fovea {

ParetoPlot::ParetoPlot()
    : FigureWidget("Error against cost"),
      rectangle_(new QRubberBand(QRubberBand::Rectangle, this)) {
  setObjectName("pareto_plot");
}

void ParetoPlot::show_settings(std::vector<SettingSpread> settings, const Quantity& x,
                               const Quantity& y, const QString& message) {
  settings_ = std::move(settings);
  x_ = x;
  y_ = y;
  message_ = message.toStdString();
  setAccessibleDescription(settings_.empty() ? message
                                             : to_qt(plural(std::ssize(settings_), "setting")));
  if (chosen_ && *chosen_ >= settings_.size()) choose(std::nullopt);
  lay_out();
}

Figure ParetoPlot::figure_in(const FigureStyle& style, std::optional<std::size_t> chosen) const {
  Figure figure;
  figure.style = style;
  figure.rows = {{make_panel(ParetoPanel{
      .settings = settings_, .x = x_, .y = y_, .message = message_, .chosen = chosen})}};
  return figure;
}

void ParetoPlot::lay_out() {
  put_screen_into(style_);
  spots_.clear();
  const Figure figure = shown_figure();
  const auto drawn = drawn_settings(settings_, x_);
  for (const RowLayout& row : fovea::lay_out(figure, PaperLettering(style_)).rows)
    for (const CellLayout& cell : row.cells) {
      const auto& series = std::get<SeriesPlot>(cell.prepared.panel->body).series;
      const drawing::Plot place{cell.plot, cell.axes};
      for (std::size_t s = 0; s < series.size(); ++s)
        for (std::size_t p = 0; p < series[s].points.size(); ++p)
          spots_.push_back(
              {{place.x(series[s].points[p].n), place.y(series[s].points[p].value)}, drawn[s][p]});
    }
  update();
}

std::vector<std::pair<QPointF, std::size_t>> ParetoPlot::spots() const {
  auto spots = spots_;
  for (auto& [at, setting] : spots) at *= pixels_a_point();
  return spots;
}

void ParetoPlot::choose(std::optional<std::size_t> setting) {
  if (setting == chosen_) return;
  chosen_ = setting;
  update();
  emit setting_chosen();
}

std::optional<std::size_t> ParetoPlot::setting_at(QPointF at) const {
  constexpr double reach = 14;  // pixels
  std::optional<std::size_t> nearest;
  double least = reach;
  for (const auto& [spot, setting] : spots()) {
    const double distance = QLineF(spot, at).length();
    if (distance >= least) continue;
    least = distance;
    nearest = setting;
  }
  return nearest;
}

std::vector<std::size_t> ParetoPlot::settings_in(const QRect& rectangle) const {
  std::vector<std::size_t> inside;
  for (const auto& [spot, setting] : spots())
    if (QRectF(rectangle).contains(spot)) inside.push_back(setting);
  return inside;
}

void ParetoPlot::mousePressEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton) pressed_ = event->position().toPoint();
}

void ParetoPlot::mouseMoveEvent(QMouseEvent* event) {
  const QPoint here = event->position().toPoint();
  if (!pressed_) return choose(setting_at(event->position()));
  if ((here - *pressed_).manhattanLength() >= QApplication::startDragDistance()) rectangle_->show();
  rectangle_->setGeometry(QRect(*pressed_, here).normalized());
}

void ParetoPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (event->button() != Qt::LeftButton || !pressed_) return;
  std::vector<std::size_t> picked;
  if (rectangle_->isVisible())
    picked = settings_in(QRect(*pressed_, event->position().toPoint()).normalized());
  else if (const auto setting = setting_at(event->position()))
    picked = {*setting};
  rectangle_->hide();
  pressed_.reset();
  if (!picked.empty()) emit settings_picked(picked);
}

void ParetoPlot::keyPressEvent(QKeyEvent* event) {
  const int key = event->key();
  if (key == Qt::Key_Left || key == Qt::Key_Right) return step(key == Qt::Key_Right ? 1 : -1);
  if ((key == Qt::Key_Return || key == Qt::Key_Enter) && chosen_)
    return emit settings_picked({*chosen_});
  QWidget::keyPressEvent(event);
}

// Goes to the next point along the axis of cost.
void ParetoPlot::step(int by) {
  auto sorted = spots_;
  if (sorted.empty()) return;
  std::ranges::sort(sorted, {}, [](const auto& spot) {
    return std::tuple(spot.first.x(), -spot.first.y(), spot.second);
  });
  const auto now = std::ranges::find_if(
      sorted, [&](const auto& spot) { return chosen_ && spot.second == *chosen_; });
  if (now == sorted.end()) return choose(sorted.front().second);
  const auto next =
      std::clamp<std::ptrdiff_t>(now - sorted.begin() + by, 0, std::ssize(sorted) - 1);
  choose(sorted[static_cast<std::size_t>(next)].second);
}

}  // namespace fovea

#include "moc_pareto_plot.cpp"
#include "views/views.h"
