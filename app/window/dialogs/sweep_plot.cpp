#include "window/dialogs/sweep_plot.h"

#include <QKeyEvent>
#include <QMouseEvent>
#include <algorithm>

#include "window/widgets/text.h"

namespace fovea {
namespace {

QString summary_text(const StageSummary& time) {
  QString text = to_qt(format_time(time.median_ms));
  if (time.samples > 1)
    text +=
        QString(" (%1 – %2)").arg(to_qt(format_time(time.p10_ms)), to_qt(format_time(time.p90_ms)));
  return text;
}

}  // namespace

QString sweep_reading(const Sweep& sweep, const SweepSpot& spot) {
  if (spot.series >= sweep.series.size()) return {};
  const SweepPoint* point = sweep.series[spot.series].at(spot.n);
  if (!point) return {};
  QStringList parts;
  parts << QString("%1 in all, apply %2, %3")
               .arg(summary_text(point->total), summary_text(point->apply),
                    to_qt(plural(point->total.samples, "run")));
  if (spot.series > 0) {
    const auto total = ratio_to_exact(sweep, *point, SweepTime::total),
               apply = ratio_to_exact(sweep, *point, SweepTime::apply);
    if (total && apply)
      parts << QString("exact's median over this one: %1 ×, apply %2 ×")
                   .arg(number_text(1 / *total, 2), number_text(1 / *apply, 2));
    else
      parts << "exact was not measured here";
  }
  parts << to_qt(format_bytes(point->bytes)) + " counted";
  if (point->error) parts << "relative output error " + number_text(*point->error);
  if (!point->fitted.empty()) parts << "fitted to this n: " + to_qt(point->fitted);
  if (point->few_samples()) parts << "few runs";
  if (throttled(sweep, *point)) parts << "the machine was slow at that time";
  for (const std::string& note : point->notes) parts << to_qt(note);
  return QString("%1, n = %2: %3")
      .arg(to_qt(label_of(sweep, spot.series)))
      .arg(point->n)
      .arg(parts.join("  ·  "));
}

SweepPlot::SweepPlot() : FigureWidget("Time, memory and error against n") {
  setObjectName("sweep_plot");
}

void SweepPlot::show_sweep(const Sweep& sweep, SweepTime time, const QString& message) {
  figure_.panels.sweep = sweep;
  figure_.panels.time = time;
  figure_.panels.message = message.toStdString();
  QStringList said;
  if (sweep.series.empty()) said << message;
  for (std::size_t s = 1; s < sweep.series.size(); ++s)
    said << to_qt(label_of(sweep, s) + ": " +
                  to_text(crossover_of(sweep, s, time), sweep.complete));
  setAccessibleDescription(said.join("\n"));
  lay_out();
}

SweepFigure SweepPlot::figure_for(const FigureStyle& style) const {
  SweepFigure figure = figure_;
  figure.page.style = style;
  figure.panels.chosen.reset();
  return figure;
}

void SweepPlot::lay_out() {
  put_screen_into(figure_.page.style);
  spots_ = sweep_spots(figure_of(figure_));
  update();
}

std::vector<std::pair<QPointF, SweepSpot>> SweepPlot::spots() const {
  auto spots = spots_;
  for (auto& [at, spot] : spots) at *= pixels_a_point();
  return spots;
}

void SweepPlot::choose(std::optional<SweepSpot> spot) {
  if (spot == figure_.panels.chosen) return;
  figure_.panels.chosen = spot;
  update();
  emit chosen(spot);
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
  const int key = event->key();
  const int series = (key == Qt::Key_Down) - (key == Qt::Key_Up);
  const int length = (key == Qt::Key_Right) - (key == Qt::Key_Left);
  if (series == 0 && length == 0) return QWidget::keyPressEvent(event);
  step(series, length);
}

// Chooses the next point that was measured in that direction.
void SweepPlot::step(int series, int length) {
  const Sweep& sweep = figure_.panels.sweep;
  const std::optional<SweepSpot>& now = figure_.panels.chosen;
  if (sweep.series.empty() || sweep.series.front().points.empty()) return;
  if (!now || now->series >= sweep.series.size())
    return choose(SweepSpot{0, sweep.series.front().points.front().n});
  const auto at = std::ranges::find(sweep.lengths, now->n) - sweep.lengths.begin();
  auto s = std::ptrdiff_t(now->series) + series;
  auto l = at + length;
  for (; s >= 0 && s < std::ssize(sweep.series) && l >= 0 && l < std::ssize(sweep.lengths);
       s += series, l += length) {
    const Index n = sweep.lengths[l];
    if (sweep.series[s].at(n)) return choose(SweepSpot{std::size_t(s), n});
  }
}

}  // namespace fovea

#include "moc_sweep_plot.cpp"
