#include "window/docks/pareto_plot.h"

#include <QApplication>
#include <QKeyEvent>
#include <QMouseEvent>
#include <QPainter>
#include <QRubberBand>
#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

#include "drawing/series_axes.h"
#include "figure/layout.h"
#include "window/widgets/text.h"
#include "window/widgets/theme.h"

namespace fovea {
namespace {

constexpr double reach = 14;                               // of a point, in pixels
constexpr double line_reach = 5;                           // of the budget's line
constexpr double zoom_step = 0.8;                          // of a notch of the wheel
constexpr double least_ratio = 1.2, largest_ratio = 1e12;  // of the ends of an axis

/// The amount at a share of an axis.
double amount_at(const drawing::PanelAxis& axis, double share) {
  const double along = (share - axis.zeros) / (1 - axis.zeros);
  return axis.low * std::pow(axis.high / axis.low, along);
}

SeriesPlot::Ends ends_of(const drawing::PanelAxis& axis) {
  return {axis.low, axis.high};
}

/// Zooms about an amount; the ends stay if the axis would show too little or too much.
SeriesPlot::Ends zoomed_ends(const SeriesPlot::Ends& ends, double factor, double about) {
  const SeriesPlot::Ends zoomed{about * std::pow(ends.low / about, factor),
                                about * std::pow(ends.high / about, factor)};
  const double ratio = zoomed.high / zoomed.low;
  return ratio < least_ratio || ratio > largest_ratio ? ends : zoomed;
}

/// Moves by a share of the axis.
SeriesPlot::Ends moved(const SeriesPlot::Ends& ends, double share) {
  const double factor = std::pow(ends.high / ends.low, share);
  return {ends.low * factor, ends.high * factor};
}

}  // namespace

ParetoPlot::ParetoPlot()
    : FigureWidget("Error against cost"),
      rectangle_(new QRubberBand(QRubberBand::Rectangle, this)) {
  setObjectName("pareto_plot");
}

void ParetoPlot::show_settings(std::vector<SettingSpread> settings, const Quantity& x,
                               const Quantity& y, const QString& message) {
  const bool other_axes = x.measure().id != x_.measure().id || y.measure().id != y_.measure().id;
  if (other_axes) x_ends_.reset(), y_ends_.reset();
  settings_ = std::move(settings);
  x_ = x;
  y_ = y;
  message_ = message.toStdString();
  setAccessibleDescription(settings_.empty() ? message
                                             : to_qt(plural(std::ssize(settings_), "setting")));
  if (chosen_ && *chosen_ >= settings_.size()) choose(std::nullopt);
  lay_out();
}

void ParetoPlot::show_budget(std::optional<double> at_most) {
  if (std::exchange(at_most_, at_most) != at_most) lay_out();
}

Panel ParetoPlot::panel_of(std::optional<std::size_t> chosen) const {
  return make_panel(ParetoPanel{.settings = settings_,
                                .x = x_,
                                .y = y_,
                                .message = message_,
                                .chosen = chosen,
                                .at_most = at_most_,
                                .x_ends = x_ends_,
                                .y_ends = y_ends_});
}

QString ParetoPlot::caption() const {
  return settings_.empty() ? QString() : to_qt(panel_of({}).caption);
}

Figure ParetoPlot::figure_in(const FigureStyle& style, std::optional<std::size_t> chosen) const {
  Figure figure;
  figure.style = style;
  figure.rows = {{panel_of(chosen)}};
  return figure;
}

// The page says beside the plot what title and caption say on paper.
Figure ParetoPlot::shown_figure() const {
  Figure figure = figure_in(style_, chosen_);
  Panel& panel = figure.rows[0][0];
  panel.title.clear();
  panel.caption.clear();
  return figure;
}

void ParetoPlot::lay_out() {
  put_screen_into(style_);
  spots_.clear();
  plot_ = {};
  const Figure figure = shown_figure();
  const auto drawn = drawn_settings(settings_, x_);
  const FigureLayout layout = fovea::lay_out(figure, PaperLettering(style_));
  const CellLayout& cell = layout.rows[0].cells[0];
  const auto& panel = std::get<SeriesPlot>(cell.prepared.panel->body);
  axes_ = cell.axes;
  const drawing::Plot place{cell.plot, axes_};
  for (std::size_t s = 0; s < panel.series.size(); ++s)
    for (std::size_t p = 0; p < panel.series[s].points.size(); ++p) {
      const auto at = drawing::place_of(panel.series[s].points[p], panel, place);
      spots_.push_back({{at.at.x, at.at.y}, drawn[s][p], at.is_beyond()});
    }
  if (!spots_.empty()) plot_ = {cell.plot.x, cell.plot.y, cell.plot.width, cell.plot.height};
  update();
}

std::vector<std::pair<QPointF, std::size_t>> ParetoPlot::spots() const {
  std::vector<std::pair<QPointF, std::size_t>> spots;
  for (const Spot& spot : spots_) spots.emplace_back(spot.at * pixels_a_point(), spot.setting);
  return spots;
}

bool ParetoPlot::is_beyond(std::size_t setting) const {
  return std::ranges::any_of(
      spots_, [&](const Spot& spot) { return spot.setting == setting && spot.beyond; });
}

std::optional<QLineF> ParetoPlot::budget_line() const {
  if (!at_most_ || plot_.isEmpty() || !(*at_most_ > 0)) return std::nullopt;
  const double x = axes_.x->place(*at_most_, plot_.left(), plot_.right());
  if (*at_most_ < axes_.x->low || *at_most_ > axes_.x->high) return std::nullopt;
  const double scale = pixels_a_point();
  return QLineF(x * scale, plot_.top() * scale, x * scale, plot_.bottom() * scale);
}

bool ParetoPlot::is_on_budget(QPointF at) const {
  const auto line = budget_line();
  return line && std::abs(line->x1() - at.x()) <= line_reach && at.y() >= line->y1() &&
         at.y() <= line->y2();
}

void ParetoPlot::drag_budget(double x) {
  const double left = plot_.left() * pixels_a_point(), width = plot_.width() * pixels_a_point();
  const double share = std::clamp((x - left) / width, axes_.x->zeros, 1.0);
  emit budget_moved(amount_at(*axes_.x, share));
}

void ParetoPlot::step_budget(int by) {
  constexpr double step = 1.1;
  if (at_most_) emit budget_moved(*at_most_ * std::pow(step, by));
}

void ParetoPlot::zoom(double factor, QPointF about) {
  if (plot_.isEmpty()) return;
  const QPointF at = about / pixels_a_point();
  const double right = (at.x() - plot_.left()) / plot_.width(),
               up = (plot_.bottom() - at.y()) / plot_.height();
  const auto within = [](double share) { return std::clamp(share, 0.0, 1.0); };
  x_ends_ = zoomed_ends(ends_of(*axes_.x), factor, amount_at(*axes_.x, within(right)));
  y_ends_ = zoomed_ends(ends_of(*axes_.y), factor,
                        amount_at(*axes_.y, std::max(axes_.y->zeros, within(up))));
  lay_out();
  emit zoomed();
}

void ParetoPlot::pan(QPointF by) {
  if (plot_.isEmpty()) return;
  const QPointF moved_by = by / pixels_a_point();
  x_ends_ = moved(ends_of(*axes_.x), -moved_by.x() / plot_.width());
  y_ends_ = moved(ends_of(*axes_.y), moved_by.y() / plot_.height());
  lay_out();
  emit zoomed();
}

void ParetoPlot::show_all() {
  x_ends_.reset();
  y_ends_.reset();
  lay_out();
  emit zoomed();
}

// Keys that zoom the canvas zoom the plot while it has the focus.
bool ParetoPlot::event(QEvent* event) {
  if (event->type() == QEvent::ShortcutOverride) {
    const int key = static_cast<QKeyEvent*>(event)->key();
    if (key == Qt::Key_Plus || key == Qt::Key_Minus || key == Qt::Key_0) {
      event->accept();
      return true;
    }
  }
  return FigureWidget::event(event);
}

// The budget's line has a handle.
void ParetoPlot::paintEvent(QPaintEvent* event) {
  FigureWidget::paintEvent(event);
  const auto line = budget_line();
  if (!line) return;
  constexpr double side = 6;
  QPainter painter(this);
  painter.setRenderHint(QPainter::Antialiasing);
  painter.setPen(Qt::NoPen);
  painter.setBrush(qcolor(window_style().accent));
  const QPointF top = line->p1();
  painter.drawPolygon(
      QPolygonF{top + QPointF(-side, 0), top + QPointF(side, 0), top + QPointF(0, 1.5 * side)});
}

void ParetoPlot::choose(std::optional<std::size_t> setting) {
  if (setting == chosen_) return;
  chosen_ = setting;
  update();
  emit setting_chosen();
}

std::optional<std::size_t> ParetoPlot::setting_at(QPointF at) const {
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
  pressed_ = moved_ = event->position().toPoint();
  if (event->button() == Qt::LeftButton)
    drag_ = is_on_budget(event->position()) && !setting_at(event->position()) ? Drag::budget
                                                                              : Drag::rectangle;
  else if (event->button() == Qt::RightButton)
    drag_ = Drag::pan;
}

void ParetoPlot::mouseMoveEvent(QMouseEvent* event) {
  const QPoint here = event->position().toPoint(), before = std::exchange(moved_, here);
  switch (drag_) {
    case Drag::none: {
      const auto setting = setting_at(event->position());
      setCursor(!setting && is_on_budget(event->position()) ? Qt::SplitHCursor : Qt::ArrowCursor);
      return choose(setting);
    }
    case Drag::budget:
      return drag_budget(event->position().x());
    case Drag::pan:
      return pan(here - before);
    case Drag::rectangle:
      break;
  }
  if ((here - pressed_).manhattanLength() >= QApplication::startDragDistance()) rectangle_->show();
  rectangle_->setGeometry(QRect(pressed_, here).normalized());
}

void ParetoPlot::mouseReleaseEvent(QMouseEvent* event) {
  if (std::exchange(drag_, Drag::none) != Drag::rectangle) return;
  std::vector<std::size_t> picked;
  if (rectangle_->isVisible())
    picked = settings_in(QRect(pressed_, event->position().toPoint()).normalized());
  else if (const auto setting = setting_at(event->position()))
    picked = {*setting};
  rectangle_->hide();
  if (!picked.empty()) emit settings_picked(picked);
}

// The first click of the two may have picked a setting; then the view stays.
void ParetoPlot::mouseDoubleClickEvent(QMouseEvent* event) {
  if (event->button() == Qt::LeftButton && !setting_at(event->position())) show_all();
}

void ParetoPlot::wheelEvent(QWheelEvent* event) {
  constexpr double notch = 120;
  zoom(std::pow(zoom_step, event->angleDelta().y() / notch), event->position());
  event->accept();
}

void ParetoPlot::keyPressEvent(QKeyEvent* event) {
  const QPointF middle = plot_.center() * pixels_a_point();
  switch (event->key()) {
    case Qt::Key_Left:
    case Qt::Key_Right:
      return step(event->key() == Qt::Key_Right ? 1 : -1);
    case Qt::Key_Up:
    case Qt::Key_Down:
      return step_budget(event->key() == Qt::Key_Up ? 1 : -1);
    case Qt::Key_Plus:
    case Qt::Key_Minus:
      return zoom(event->key() == Qt::Key_Plus ? zoom_step : 1 / zoom_step, middle);
    case Qt::Key_0:
      return show_all();
    case Qt::Key_Return:
    case Qt::Key_Enter:
      if (chosen_) return emit settings_picked({*chosen_});
      break;
    default:
      break;
  }
  QWidget::keyPressEvent(event);
}

// Goes to the next point along the axis of cost.
void ParetoPlot::step(int by) {
  auto sorted = spots_;
  if (sorted.empty()) return;
  std::ranges::sort(sorted, {}, [](const Spot& spot) {
    return std::tuple(spot.at.x(), -spot.at.y(), spot.setting);
  });
  const auto now = std::ranges::find_if(
      sorted, [&](const Spot& spot) { return chosen_ && spot.setting == *chosen_; });
  if (now == sorted.end()) return choose(sorted.front().setting);
  const auto next =
      std::clamp<std::ptrdiff_t>(now - sorted.begin() + by, 0, std::ssize(sorted) - 1);
  choose(sorted[next].setting);
}

}  // namespace fovea

#include "moc_pareto_plot.cpp"
