#include <QPainterPath>
#include <algorithm>
#include <cmath>

#include "figure/bodies.h"
#include "figure/legend.h"

namespace fovea {
namespace {

double height_of(float value, const PanelAxis& y, const QRectF& plot) {
  if (!std::isfinite(value)) return plot.bottom();
  return y.place(std::clamp(static_cast<double>(value), y.low, y.high), plot.bottom(), plot.top());
}

/// One step a value; more values than half points are joined to their maximum.
QPainterPath area(const std::vector<float>& values, const PanelAxis& y, const QRectF& plot) {
  const std::size_t most = std::max<std::size_t>(1, static_cast<std::size_t>(4 * plot.width()));
  const std::size_t count = std::min(values.size(), most);
  QPainterPath path(plot.bottomLeft());
  for (std::size_t s = 0; s < count; ++s) {
    const std::size_t begin = s * values.size() / count, end = (s + 1) * values.size() / count;
    float high = 0;
    for (std::size_t i = begin; i < end; ++i)
      if (std::isfinite(values[i])) high = std::max(high, values[i]);
    const double top = height_of(high, y, plot);
    const double unit = plot.width() / static_cast<double>(count);
    path.lineTo(plot.left() + unit * static_cast<double>(s), top);
    path.lineTo(plot.left() + unit * static_cast<double>(s + 1), top);
  }
  path.lineTo(plot.bottomRight());
  path.closeSubpath();
  return path;
}

void draw_area(Ink& ink, const std::vector<float>& values, const PanelAxis& y, const QRectF& plot) {
  const QPainterPath path = area(values, y, plot);
  ink.painter.fillPath(path, ink.exact);
  ink.painter.strokePath(path, QPen(ink.exact, 0.3));
}

/// The index of the best exact keys over their peaks, where there is room.
void name_peaks(Ink& ink, const QRectF& plot, const RowCurve& row, const Axes& axes) {
  std::vector<QRectF> taken;
  const double line = ink.letters.line();
  for (const auto& [key, weight] : row.top_exact) {
    if (taken.size() == 3 || !row.keys.contains(key)) break;
    const QString name = QString::number(key);
    const double width = ink.letters.width(name);
    const double x = axes.x->place(static_cast<double>(key) + 0.5, plot.left(), plot.right());
    const double left = std::clamp(x - width / 2, plot.left() + 1, plot.right() - width - 1);
    const double top = height_of(weight, *axes.y, plot) - line - 1;
    const QRectF box(left, std::max(top, plot.top() + 0.5), width, line);
    const bool free = std::none_of(taken.begin(), taken.end(), [&](const QRectF& other) {
      return std::abs(other.center().x() - x) < 1.5 * width + 4;
    });
    if (!free) continue;
    // A label pushed down from the top stands beside its peak, not over it.
    const bool pushed = top < plot.top();
    const bool leftwards = x + 2 + width > plot.right() - 1;
    const QRectF where =
        pushed ? QRectF(leftwards ? x - 2 - width : x + 2, box.top(), width, line) : box;
    taken.push_back(where);
    ink.write(where, name, Align::left, ink.text);
  }
}

Legend legend_of(const Inks& inks, const Lettering& letters, double width) {
  const bool narrow = width < letters.width(QStringLiteral("exact approximate")) + 24;
  return Legend({{QStringLiteral("exact"), inks.exact},
                 {narrow ? QStringLiteral("approx.") : QStringLiteral("approximate"),
                  inks.approximate, true}},
                letters, width);
}

}  // namespace

double row_heading(double width, const Lettering& letters) {
  return legend_of({}, letters, width).height() + 1;
}

void draw_row_heading(Ink& ink, const QRectF& body) {
  legend_of(ink, ink.letters, body.width()).draw(ink, body.topLeft());
}

void draw_row(Ink& ink, const QRectF& plot, const RowCurve& row, const Axes& axes) {
  draw_area(ink, row.exact, *axes.y, plot);
  const double count = static_cast<double>(std::max<std::size_t>(1, row.approximate.size()));
  const double radius = std::clamp(0.35 * plot.width() / count, 0.45, 1.2);
  ink.painter.setPen(Qt::NoPen);
  ink.painter.setBrush(ink.approximate);
  for (std::size_t i = 0; i < row.approximate.size(); ++i) {
    const float value = row.approximate[i];
    // Keys that both leave out would only thicken the axis.
    if (!std::isfinite(value) || (value <= 0 && (i >= row.exact.size() || !(row.exact[i] > 0))))
      continue;
    const double x = plot.left() + (static_cast<double>(i) + 0.5) / count * plot.width();
    ink.painter.drawEllipse(QPointF(std::clamp(x, plot.left() + radius, plot.right() - radius),
                                    height_of(value, *axes.y, plot)),
                            radius, radius);
  }
  name_peaks(ink, plot, row, axes);
}

void draw_strip(Ink& ink, const QRectF& plot, const Strip& strip, const Axes& axes) {
  if (strip.values.empty()) return draw_message(ink, plot, {"no tokens in view"});
  draw_area(ink, strip.values, *axes.y, plot);
}

}  // namespace fovea
