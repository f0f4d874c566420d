// Curves against one amount, with their legend and the levels that they are compared with.
#include <algorithm>
#include <cmath>

#include "drawing/bodies.h"

namespace fovea::drawing {
namespace {

constexpr double kLightest = 0.25;  // of a curve's colour

Rgba colour_of(const CurvePlot::Curve& curve, const Style& style) {
  return mixed(style.paper, style.series_colour(curve.colour),
               kLightest + (1 - kLightest) * curve.shade);
}

Legend legend_of(const CurvePlot& plot, const Style& style, const Lettering& letters,
                 double width) {
  std::vector<LegendItem> items;
  for (const CurvePlot::Curve& curve : plot.curves)
    if (!curve.name.empty()) items.push_back({curve.name, colour_of(curve, style)});
  return Legend(std::move(items), letters, width);
}

void draw_bars(const BodyDrawing& d, const CurvePlot::Curve& curve) {
  const double letter = d.ink.letters.size(), cap = 0.2 * letter;
  const Stroke thin{colour_of(curve, d.ink.style), 0.08 * letter};
  for (std::size_t p = 0; p < curve.points.size(); ++p) {
    const auto& [x, y] = curve.points[p];
    const double at = d.plot.x(x), low = d.plot.y(y - curve.errors[p]),
                 high = d.plot.y(y + curve.errors[p]);
    d.ink.line({at, low}, {at, high}, thin);
    for (const double end : {low, high}) d.ink.line({at - cap, end}, {at + cap, end}, thin);
    d.ink.dot({at, d.plot.y(y)}, 0.2 * letter, thin.colour);
  }
}

void draw_dots(const BodyDrawing& d, const CurvePlot::Curve& curve) {
  for (const auto& [x, y] : curve.points)
    if (std::isfinite(y))
      d.ink.dot({d.plot.x(x), d.plot.y(y)}, 0.3 * d.ink.letters.size(),
                colour_of(curve, d.ink.style));
}

void draw_curve(const BodyDrawing& d, const CurvePlot::Curve& curve) {
  if (curve.apart) return draw_dots(d, curve);
  if (!curve.errors.empty()) return draw_bars(d, curve);
  const Stroke stroke{colour_of(curve, d.ink.style), 0.13 * d.ink.letters.size(), curve.dashed};
  std::vector<Point> piece;
  const auto draw_piece = [&] {
    if (piece.size() > 1) d.ink.path(piece, stroke);
    if (piece.size() == 1) d.ink.dot(piece[0], 0.2 * d.ink.letters.size(), stroke.colour);
    piece.clear();
  };
  for (const auto& [x, y] : curve.points) {
    if (std::isfinite(y))
      piece.push_back({d.plot.x(x), d.plot.y(y)});
    else
      draw_piece();
  }
  draw_piece();
}

/// Its name stands over the line, or below it where it would leave the plot.
void draw_level(const BodyDrawing& d, const CurvePlot::Level& level) {
  const Rect& where = d.plot.where;
  const double y = d.plot.y(level.value), line = d.ink.letters.line();
  d.ink.line({where.x, y}, {where.right(), y}, {d.ink.style.faint, 0, true});
  const double top = y - line < where.y ? y : y - line;
  d.ink.write({where.x, top, where.width - 0.3 * d.ink.letters.size(), line},
              d.ink.letters.elided(level.name, where.width), Align::right, d.ink.style.faint);
}

}  // namespace

double curves_heading_height(const CurvePlot& plot, double width, const Lettering& letters) {
  const double height = legend_of(plot, {}, letters, width).height();
  return height > 0 ? height + 0.4 * letters.size() : 0;
}

Legend legend_of(const BodyDrawing& d, const CurvePlot& plot) {
  return legend_of(plot, d.ink.style, d.ink.letters, d.body.width);
}

void draw(const BodyDrawing& d, const CurvePlot& plot) {
  legend_of(d, plot).draw(d.ink, {d.body.x, d.body.y});
  draw_grid_lines(d.ink, d.plot);
  for (const CurvePlot::Level& level : plot.levels) draw_level(d, level);
  d.ink.push_clip(d.plot.where.inset(-1));
  for (const CurvePlot::Curve& curve : plot.curves) draw_curve(d, curve);
  d.ink.pop_clip();
}

}  // namespace fovea::drawing
