// Drawing of a SweepFigure, into its layout.
#include <QPainter>
#include <QPolygonF>
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "figure/sweep_layout.h"

namespace fovea {
namespace {

constexpr double kTick = 2;

struct Corners {
  int count;      // 0: a circle
  double turned;  // degrees
};

// As different as small shapes are.
constexpr std::array<Corners, 8> kMarkers = {
    {{0, 0}, {4, 45}, {3, -90}, {4, 0}, {3, 90}, {5, -90}, {6, 0}, {3, 0}}};

void draw_marker(Ink& ink, QPointF at, std::size_t series, double radius, bool hollow) {
  const QColor colour = series == 0 ? ink.text : series_colour(series, ink.style.dark);
  ink.painter.setPen(QPen(colour, 0.25 * radius + 0.3));
  ink.painter.setBrush(hollow ? ink.paper : colour);
  const Corners& shape = kMarkers[series % kMarkers.size()];
  if (shape.count == 0) {
    ink.painter.drawEllipse(at, 0.9 * radius, 0.9 * radius);
    return;
  }
  QPolygonF corners;
  for (int c = 0; c < shape.count; ++c) {
    const double angle = (shape.turned + 360.0 * c / shape.count) * std::numbers::pi / 180;
    corners << at + 1.15 * radius * QPointF(std::cos(angle), std::sin(angle));
  }
  ink.painter.drawPolygon(corners);
}

double marker_radius(const Ink& ink) {
  return 0.3 * ink.letters.size();
}

QPen pen_of(const Ink& ink, std::size_t series, bool weak) {
  QPen pen(series == 0 ? ink.text : series_colour(series, ink.style.dark), series == 0 ? 1.3 : 0.9);
  pen.setCapStyle(Qt::FlatCap);
  if (weak) pen.setDashPattern({1.5, 2});
  return pen;
}

void draw_curve(Ink& ink, const std::vector<SweepDot>& curve, std::optional<SweepSpot> marked) {
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const SweepDot &from = curve[i - 1], &to = curve[i];
    if (to.length != from.length + 1) continue;  // nothing was measured between
    ink.painter.setPen(pen_of(ink, to.spot.series, from.weak || to.weak));
    ink.painter.drawLine(from.at, to.at);
  }
  const double radius = marker_radius(ink), cap = 0.6 * radius;
  for (const SweepDot& dot : curve) {
    if (dot.low - dot.high > 0.5) {
      ink.painter.setPen(QPen(pen_of(ink, dot.spot.series, false).color(), 0.6));
      for (const double y : {dot.low, dot.high})
        ink.painter.drawLine(QPointF(dot.at.x() - cap, y), QPointF(dot.at.x() + cap, y));
      ink.painter.drawLine(QPointF(dot.at.x(), dot.low), QPointF(dot.at.x(), dot.high));
    }
    draw_marker(ink, dot.at, dot.spot.series, radius, dot.fitted);
    if (marked != dot.spot) continue;
    ink.painter.setPen(QPen(ink.text, 0.8));
    ink.painter.setBrush(Qt::NoBrush);
    ink.painter.drawEllipse(dot.at, 2.2 * radius, 2.2 * radius);
  }
}

void draw_mark(Ink& ink, const QRectF& plot, const SweepMark& mark) {
  const QColor colour = series_colour(mark.series, ink.style.dark);
  QPen pen(colour, 0.6);
  pen.setDashPattern({3, 2});
  ink.painter.setPen(pen);
  const QPointF top(mark.at.x(), plot.top());
  if (mark.box.bottom() > plot.top() - 2)  // else the line would cross numbers below it
    ink.painter.drawLine(QPointF(mark.box.center().x(), mark.box.bottom() - 1), top);
  ink.painter.drawLine(top, mark.at);
  ink.painter.setPen(QPen(colour, 0.9));
  ink.painter.setBrush(Qt::NoBrush);
  ink.painter.drawEllipse(mark.at, 1.5 * marker_radius(ink), 1.5 * marker_radius(ink));
  ink.write(mark.box, mark.text, Align::centre, colour, true);
}

void draw_axes(Ink& ink, const SweepPlotLayout& plot) {
  const double line = ink.letters.line();
  const QRectF& where = plot.plot;
  for (const Tick& tick : plot.y_ticks) {
    ink.line({where.left(), tick.at}, {where.right(), tick.at}, ink.grid, 0.4);
    ink.line({where.left() - kTick, tick.at}, {where.left(), tick.at}, ink.frame, 0.4);
    ink.write({where.left() - kTick - 1.5, tick.at - line / 2, 0, line}, tick.label, Align::right,
              ink.text);
  }
  for (const Tick& tick : plot.x.ticks) {
    const double x = plot.x.place(tick.at, where.left(), where.right());
    ink.line({x, where.top()}, {x, where.bottom()}, ink.grid, 0.4);
    ink.line({x, where.bottom()}, {x, where.bottom() + kTick}, ink.frame, 0.4);
    ink.write({x, where.bottom() + kTick, 0, line}, tick.label, Align::centre, ink.text);
  }
  ink.write({where.left(), where.bottom() + kTick + line, where.width(), line}, plot.x.label,
            Align::centre, ink.faint);
  ink.outline(where, ink.frame, 0.4);
}

void draw_plot(Ink& ink, const SweepPlotLayout& plot, std::optional<SweepSpot> marked) {
  ink.write(plot.heading_box, plot.heading, Align::left, ink.text, true);
  draw_axes(ink, plot);
  if (!plot.empty.isEmpty()) {
    const QRectF room = plot.plot.adjusted(6, 6, -6, -6);
    const QStringList lines = ink.letters.wrapped(plot.empty, room.width(), 6);
    const double height = ink.letters.line() * static_cast<double>(lines.size());
    ink.write_lines({room.left(), room.center().y() - height / 2, room.width(), height}, lines,
                    Align::centre, ink.faint);
  }
  for (const auto& curve : plot.curves) draw_curve(ink, curve, marked);
  for (const SweepMark& mark : plot.marks) draw_mark(ink, plot.plot, mark);
}

void draw_legend(Ink& ink, const std::vector<SweepLegendItem>& legend) {
  const double line = ink.letters.line(), sample = legend_sample(ink.letters);
  for (std::size_t s = 0; s < legend.size(); ++s) {
    const SweepLegendItem& item = legend[s];
    const double length = sample - 0.7 * ink.letters.size();
    ink.painter.setPen(pen_of(ink, s, false));
    ink.painter.drawLine(item.at, item.at + QPointF(length, 0));
    draw_marker(ink, item.at + QPointF(length / 2, 0), s, marker_radius(ink), false);
    const double left = item.at.x() + sample, top = item.at.y() - line / 2;
    ink.write({left, top, 0, line}, item.name, Align::left, ink.text);
    ink.write({left + item.name_width + 4, top, 0, line}, item.reading, Align::left, ink.faint);
  }
}

}  // namespace

QColor series_colour(std::size_t series, bool dark) {
  // After Okabe and Ito (2008), darker on white and lighter on black: at least 3 to 1.
  static const std::array<QColor, 8> light = {
      QColor(20, 22, 26),   QColor(0, 88, 160),  QColor(208, 84, 0),   QColor(0, 140, 100),
      QColor(188, 96, 150), QColor(150, 110, 0), QColor(40, 150, 210), QColor(112, 92, 72)};
  static const std::array<QColor, 8> dark_ones = {
      QColor(232, 234, 237), QColor(112, 200, 244), QColor(244, 122, 54),  QColor(40, 196, 150),
      QColor(226, 148, 192), QColor(240, 206, 70),  QColor(130, 128, 255), QColor(196, 168, 136)};
  // Exact stays by itself when colours repeat.
  const std::size_t colour = series < 8 ? series : 1 + (series - 1) % 7;
  return dark ? dark_ones[colour] : light[colour];
}

double sweep_figure_height(const SweepFigure& figure) {
  return lay_out(figure).size.height();
}

void draw_sweep_figure(QPainter& painter, const SweepFigure& figure) {
  const SweepLayout layout = lay_out(figure);
  Ink ink(painter, figure.style);
  painter.save();
  painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing);
  ink.fill({0, 0, layout.size.width(), layout.size.height()}, ink.paper);
  ink.write_lines(layout.title_box, layout.title, Align::left, ink.text, true);
  ink.write_lines(layout.message_box, layout.message, Align::centre, ink.faint);
  draw_legend(ink, layout.legend);
  for (const SweepPlotLayout& plot : layout.plots) draw_plot(ink, plot, figure.marked);
  ink.write_lines(layout.notes_box, layout.notes, Align::left, ink.faint);
  painter.restore();
}

std::vector<std::pair<QPointF, SweepSpot>> sweep_spots(const SweepFigure& figure) {
  std::vector<std::pair<QPointF, SweepSpot>> spots;
  for (const SweepPlotLayout& plot : lay_out(figure).plots)
    for (const auto& curve : plot.curves)
      for (const SweepDot& dot : curve) spots.emplace_back(dot.at, dot.spot);
  return spots;
}

Drawing drawing_of(const SweepFigure& figure) {
  return {.title = QString::fromStdString(figure.title),
          .description = QString::fromStdString(figure.footer),
          .points = {figure.style.width, sweep_figure_height(figure)},
          .dpi = figure.style.dpi,
          .dark = figure.style.dark,
          .draw = [figure](QPainter& painter) { draw_sweep_figure(painter, figure); }};
}

}  // namespace fovea
