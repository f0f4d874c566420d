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

/// An ink for figures, which knows whether they are dark.
struct SweepInk : PainterInk {
  SweepInk(QPainter& on, const PaperLettering& lettering, const FigureStyle& in)
      : PainterInk(on, lettering, in), dark(in.dark) {}
  bool dark;
};

QColor colour_of(const SweepInk& ink, std::size_t series) {
  return series == 0 ? qcolor(ink.style.text) : series_colour(series, ink.dark);
}

void draw_marker(SweepInk& ink, Point at, std::size_t series, double radius, bool hollow) {
  const QColor colour = colour_of(ink, series);
  ink.painter.setPen(QPen(colour, 0.25 * radius + 0.3));
  ink.painter.setBrush(hollow ? qcolor(ink.style.paper) : colour);
  const Corners& shape = kMarkers[series % kMarkers.size()];
  if (shape.count == 0) {
    ink.painter.drawEllipse(qpoint(at), 0.9 * radius, 0.9 * radius);
    return;
  }
  QPolygonF corners;
  for (int c = 0; c < shape.count; ++c) {
    const double angle = (shape.turned + 360.0 * c / shape.count) * std::numbers::pi / 180;
    corners << qpoint(at) + 1.15 * radius * QPointF(std::cos(angle), std::sin(angle));
  }
  ink.painter.drawPolygon(corners);
}

double marker_radius(const SweepInk& ink) {
  return 0.3 * ink.letters.size();
}

QPen pen_of(const SweepInk& ink, std::size_t series, bool weak) {
  QPen pen(colour_of(ink, series), series == 0 ? 1.3 : 0.9);
  pen.setCapStyle(Qt::FlatCap);
  if (weak) pen.setDashPattern({1.5, 2});
  return pen;
}

void draw_curve(SweepInk& ink, const std::vector<SweepDot>& curve,
                std::optional<SweepSpot> marked) {
  for (std::size_t i = 1; i < curve.size(); ++i) {
    const SweepDot &from = curve[i - 1], &to = curve[i];
    if (to.length != from.length + 1) continue;  // nothing was measured between
    ink.painter.setPen(pen_of(ink, to.spot.series, from.weak || to.weak));
    ink.painter.drawLine(qpoint(from.at), qpoint(to.at));
  }
  const double radius = marker_radius(ink), cap = 0.6 * radius;
  for (const SweepDot& dot : curve) {
    if (dot.low - dot.high > 0.5) {
      ink.painter.setPen(QPen(pen_of(ink, dot.spot.series, false).color(), 0.6));
      for (const double y : {dot.low, dot.high})
        ink.painter.drawLine(QPointF(dot.at.x - cap, y), QPointF(dot.at.x + cap, y));
      ink.painter.drawLine(QPointF(dot.at.x, dot.low), QPointF(dot.at.x, dot.high));
    }
    draw_marker(ink, dot.at, dot.spot.series, radius, dot.fitted);
    if (marked != dot.spot) continue;
    ink.painter.setPen(QPen(qcolor(ink.style.text), 0.8));
    ink.painter.setBrush(Qt::NoBrush);
    ink.painter.drawEllipse(qpoint(dot.at), 2.2 * radius, 2.2 * radius);
  }
}

void draw_mark(SweepInk& ink, const Rect& plot, const SweepMark& mark) {
  const QColor colour = series_colour(mark.series, ink.dark);
  QPen pen(colour, 0.6);
  pen.setDashPattern({3, 2});
  ink.painter.setPen(pen);
  const QPointF top(mark.at.x, plot.y);
  if (mark.box.bottom() > plot.y - 2)  // else the line would cross numbers below it
    ink.painter.drawLine(QPointF(mark.box.centre().x, mark.box.bottom() - 1), top);
  ink.painter.drawLine(top, qpoint(mark.at));
  ink.painter.setPen(QPen(colour, 0.9));
  ink.painter.setBrush(Qt::NoBrush);
  ink.painter.drawEllipse(qpoint(mark.at), 1.5 * marker_radius(ink), 1.5 * marker_radius(ink));
  ink.write(mark.box, mark.text, Align::centre,
            {static_cast<std::uint8_t>(colour.red()), static_cast<std::uint8_t>(colour.green()),
             static_cast<std::uint8_t>(colour.blue())},
            {.bold = true});
}

void draw_axes(SweepInk& ink, const SweepPlotLayout& plot) {
  const double line = ink.letters.line();
  const Rect& where = plot.plot;
  for (const Tick& tick : plot.y_ticks) {
    ink.line({where.x, tick.at}, {where.right(), tick.at}, {ink.style.grid});
    ink.line({where.x - kTick, tick.at}, {where.x, tick.at}, {ink.style.frame});
    ink.write({where.x - kTick - 1.5, tick.at - line / 2, 0, line}, tick.label, Align::right,
              ink.style.text);
  }
  for (const Tick& tick : plot.x.ticks) {
    const double x = plot.x.place(tick.at, where.x, where.right());
    ink.line({x, where.y}, {x, where.bottom()}, {ink.style.grid});
    ink.line({x, where.bottom()}, {x, where.bottom() + kTick}, {ink.style.frame});
    ink.write({x, where.bottom() + kTick, 0, line}, tick.label, Align::centre, ink.style.text);
  }
  ink.write({where.x, where.bottom() + kTick + line, where.width, line}, plot.x.label,
            Align::centre, ink.style.faint);
  ink.outline(where, {ink.style.frame});
}

void draw_plot(SweepInk& ink, const SweepPlotLayout& plot, std::optional<SweepSpot> marked) {
  ink.write(plot.heading_box, plot.heading, Align::left, ink.style.text, {.bold = true});
  draw_axes(ink, plot);
  if (!plot.empty.empty()) {
    ink.write_paragraph(plot.plot.inset(6), plot.empty, ink.style.faint);
  }
  for (const auto& curve : plot.curves) draw_curve(ink, curve, marked);
  for (const SweepMark& mark : plot.marks) draw_mark(ink, plot.plot, mark);
}

void draw_legend(SweepInk& ink, const std::vector<SweepLegendItem>& legend) {
  const double line = ink.letters.line(), sample = legend_sample(ink.letters);
  for (std::size_t s = 0; s < legend.size(); ++s) {
    const SweepLegendItem& item = legend[s];
    const double length = sample - 0.7 * ink.letters.size();
    ink.painter.setPen(pen_of(ink, s, false));
    ink.painter.drawLine(qpoint(item.at), qpoint(item.at) + QPointF(length, 0));
    draw_marker(ink, {item.at.x + length / 2, item.at.y}, s, marker_radius(ink), false);
    const double left = item.at.x + sample, top = item.at.y - line / 2;
    ink.write({left, top, 0, line}, item.name, Align::left, ink.style.text);
    ink.write({left + item.name_width + 4, top, 0, line}, item.reading, Align::left,
              ink.style.faint);
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
  return lay_out(figure, PaperLettering(figure.style)).size.y;
}

void draw_sweep_figure(QPainter& painter, const SweepFigure& figure) {
  const PaperLettering letters(figure.style);
  const SweepLayout layout = lay_out(figure, letters);
  SweepInk ink(painter, letters, figure.style);
  painter.save();
  painter.setRenderHints(QPainter::Antialiasing | QPainter::TextAntialiasing);
  ink.fill({0, 0, layout.size.x, layout.size.y}, ink.style.paper);
  ink.write_lines(layout.title_box, layout.title, Align::left, ink.style.text, {.bold = true});
  ink.write_lines(layout.message_box, layout.message, Align::centre, ink.style.faint);
  draw_legend(ink, layout.legend);
  for (const SweepPlotLayout& plot : layout.plots) draw_plot(ink, plot, figure.marked);
  ink.write_lines(layout.notes_box, layout.notes, Align::left, ink.style.faint);
  painter.restore();
}

std::vector<std::pair<QPointF, SweepSpot>> sweep_spots(const SweepFigure& figure) {
  std::vector<std::pair<QPointF, SweepSpot>> spots;
  const PaperLettering letters(figure.style);
  for (const SweepPlotLayout& plot : lay_out(figure, letters).plots)
    for (const auto& curve : plot.curves)
      for (const SweepDot& dot : curve) spots.emplace_back(qpoint(dot.at), dot.spot);
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
