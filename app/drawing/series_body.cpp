// Curves of several series with their markers and bars, and numbers above the plot.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "drawing/bodies.h"
#include "drawing/legend.h"
#include "drawing/series_axes.h"

namespace fovea::drawing {
namespace {

// In letters.
constexpr double kMarker = 0.3;      // radius
constexpr double kMarksApart = 0.6;  // between numbers above the plot

constexpr Letters mark_face{.bold = true};

struct Corners {
  int count;
  double turned;  // degrees
};

// Shapes that differ as much as small shapes can; the first looks like a circle.
constexpr Corners kMarkers[] = {{24, 0}, {4, 45},  {3, -90}, {4, 0},
                                {3, 90}, {5, -90}, {6, 0},   {3, 0}};

/// Closed: the first corner is also the last.
std::vector<Point> polygon_around(Point centre, double radius, Corners corners) {
  std::vector<Point> points;
  for (int c = 0; c <= corners.count; ++c) {
    const double angle = (corners.turned + 360.0 * c / corners.count) * std::numbers::pi / 180;
    points.push_back({centre.x + radius * std::cos(angle), centre.y + radius * std::sin(angle)});
  }
  return points;
}

struct Marker {
  std::size_t series;
  Rgba colour;
  bool hollow;
};

void draw_marker(Ink& ink, Point centre, const Marker& marker) {
  const auto corners = polygon_around(centre, 1.1 * kMarker * ink.letters.size(),
                                      kMarkers[marker.series % std::size(kMarkers)]);
  ink.polygon(corners, marker.hollow ? ink.style.paper : marker.colour);
  ink.path(corners, {marker.colour, 0.1 * ink.letters.size()});
}

void draw_frame(Ink& ink, Point centre) {
  ink.path(polygon_around(centre, 2.4 * kMarker * ink.letters.size(), {4, 45}),
           {ink.style.text, 2 * ink.style.hair});
}

void draw_ring(Ink& ink, Point centre, double radius, Rgba colour) {
  ink.path(polygon_around(centre, radius * kMarker * ink.letters.size(), kMarkers[0]),
           {colour, 2 * ink.style.hair});
}

Stroke stroke_of(const Ink& ink, std::size_t series) {
  const double width = (series == 0 ? 0.18 : 0.13) * ink.letters.size();
  return {ink.style.series_colour(series), width};
}

void draw_bar(const BodyDrawing& d, const SeriesPlot::Point& point, double x, Rgba colour) {
  Ink& ink = d.ink;
  const double cap = 0.6 * kMarker * ink.letters.size();
  const Stroke thin{colour, 0.08 * ink.letters.size()};
  const Rect& inside = d.plot.where;
  const auto place = [&](double value) {
    return std::clamp(d.plot.y(value), inside.y, inside.bottom());
  };
  const double low = place(point.low), high = place(point.high);
  if (low - high <= 0.5) return;
  for (const double y : {low, high}) ink.line({x - cap, y}, {x + cap, y}, thin);
  ink.line({x, low}, {x, high}, thin);
}

/// An arrow at the edge of the plot towards a point beyond it.
void draw_arrow(Ink& ink, const SeriesPlace& place, Rgba colour) {
  const double size = 2.6 * kMarker * ink.letters.size();
  const double length = std::hypot(place.beyond_x, place.beyond_y);
  const Point along{place.beyond_x / length, -place.beyond_y / length};
  const Point base{place.at.x - size * along.x, place.at.y - size * along.y};
  const Point side{-0.6 * size * along.y, 0.6 * size * along.x};
  const std::array corners{place.at, Point{base.x + side.x, base.y + side.y},
                           Point{base.x - side.x, base.y - side.y}, place.at};
  ink.polygon(corners, colour);
}

void draw_curve(const BodyDrawing& d, const SeriesPlot& plot, std::size_t s) {
  constexpr double pale = 0.3, hollow = 0.6;  // opacities
  Ink& ink = d.ink;
  const auto& points = plot.series[s].points;
  const auto at = [&](const SeriesPlot::Point& point) {
    return Point{d.plot.x(point.n), d.plot.y(point.value)};
  };
  for (std::size_t i = 1; i < points.size(); ++i) {
    Stroke stroke = stroke_of(ink, s);
    stroke.dashed = points[i - 1].weak || points[i].weak;
    if (points[i].joined) ink.line(at(points[i - 1]), at(points[i]), stroke);
  }
  for (const SeriesPlot::Point& point : points) {
    const SeriesPlace place = place_of(point, plot, d.plot);
    const Rgba full = ink.style.series_colour(s), colour = point.pale ? faded(full, pale) : full;
    if (place.is_beyond()) {
      draw_arrow(ink, place, colour);
    } else {
      draw_bar(d, point, place.at.x, point.hollow ? faded(colour, hollow) : colour);
      draw_marker(ink, place.at, {s, colour, point.hollow});
    }
    if (point.framed) draw_frame(ink, place.at);
    if (point.ringed) draw_ring(ink, place.at, 2.2, ink.style.text);
  }
}

/// The line from `from` to `to`, which runs along an axis, as far as it is inside the plot.
void draw_inside(const BodyDrawing& d, Point from, Point to, const Stroke& stroke) {
  const Rect& inside = d.plot.where;
  const auto clamped = [&](Point p) {
    return Point{std::clamp(p.x, inside.x, inside.right()),
                 std::clamp(p.y, inside.y, inside.bottom())};
  };
  const bool level = from.y == to.y;
  const Point a = clamped(from), b = clamped(to);
  if (level ? a.y == from.y : a.x == from.x) d.ink.line(a, b, stroke);
}

void draw_limit(const BodyDrawing& d, const SeriesPlot& plot) {
  if (!plot.limit) return;
  const Rect& inside = d.plot.where;
  const double x = d.plot.x(*plot.limit);
  if (x < inside.x || x > inside.right()) return;
  d.ink.line({x, inside.y}, {x, inside.bottom()},
             {d.ink.style.accent, 0.1 * d.ink.letters.size(), true});
}

/// Draws steps that go down only at the next place, since nothing was measured between places.
void draw_steps(const BodyDrawing& d, const std::vector<std::pair<double, double>>& places,
                bool dashed) {
  Stroke stroke{d.ink.style.faint, 0.08 * d.ink.letters.size()};
  stroke.dashed = dashed;
  for (std::size_t i = 1; i < places.size(); ++i) {
    const double y = d.plot.y(places[i - 1].second), x = d.plot.x(places[i].first);
    draw_inside(d, {d.plot.x(places[i - 1].first), y}, {x, y}, stroke);
    draw_inside(d, {x, y}, {x, d.plot.y(places[i].second)}, stroke);
  }
}

int lines_of_marks(const SeriesPlot& plot, double width, const Lettering& letters) {
  double taken = 0;
  for (const SeriesPlot::Series& series : plot.series)
    if (series.mark)
      taken += letters.width(series.mark->text, mark_face) + kMarksApart * letters.size();
  return std::ceil(taken / (0.8 * width));
}

struct PlacedMark {
  std::size_t series;
  Point at;
  Rect text;
};

/// Places marks from left to right, on the available lines in turn, and pushes those of a line
/// apart.
std::vector<PlacedMark> placed_marks(const BodyDrawing& d, const SeriesPlot& plot) {
  const Lettering& letters = d.ink.letters;
  std::vector<PlacedMark> marks;
  for (std::size_t s = 0; s < plot.series.size(); ++s)
    if (const auto& mark = plot.series[s].mark)
      marks.push_back({s,
                       {d.plot.x(mark->n), d.plot.y(mark->value)},
                       {0, 0, letters.width(mark->text, mark_face), letters.line()}});
  std::ranges::sort(marks, {}, [](const PlacedMark& mark) { return mark.at.x; });
  const std::size_t lines = lines_of_marks(plot, d.body.width, letters);
  const double apart = kMarksApart * letters.size();
  for (std::size_t line = 0; line < lines; ++line) {
    double next = d.body.x;  // where the next may begin
    for (std::size_t m = line; m < marks.size(); m += lines) {
      Rect& text = marks[m].text;
      text.x = std::max(next, marks[m].at.x - text.width / 2);
      text.y = d.plot.where.y - 1 - letters.line() * (line + 1);
      next = text.right() + apart;
    }
    double end = d.body.right();
    for (std::size_t m = marks.size(); m-- > 0;) {
      if (m % lines != line) continue;
      Rect& text = marks[m].text;
      text.x = std::min(text.right(), end) - text.width;
      end = text.x - apart;
    }
  }
  return marks;
}

void draw_mark(const BodyDrawing& d, const SeriesPlot& plot, const PlacedMark& mark) {
  const Rgba colour = d.ink.style.series_colour(mark.series);
  const Stroke stroke{colour, 0.08 * d.ink.letters.size(), true};
  const Point top{mark.at.x, d.plot.where.y};
  if (mark.text.bottom() > top.y - 2)  // otherwise the line would cross numbers below it
    d.ink.line({mark.text.centre().x, mark.text.bottom() - 1}, top, stroke);
  d.ink.line(top, mark.at, stroke);
  draw_ring(d.ink, mark.at, 1.5, colour);
  d.ink.write(mark.text, plot.series[mark.series].mark->text, Align::centre, colour, mark_face);
}

}  // namespace

void draw_series_marker(Ink& ink, Point centre, std::size_t series) {
  draw_marker(ink, centre, {series, ink.style.series_colour(series), false});
}

void draw_series_sample(Ink& ink, const Rect& where, std::size_t series) {
  ink.line({where.x, where.centre().y}, {where.right(), where.centre().y}, stroke_of(ink, series));
  draw_series_marker(ink, where.centre(), series);
}

double series_heading_height(const SeriesPlot& plot, double width, const Lettering& letters) {
  const int lines = lines_of_marks(plot, width, letters);
  return lines > 0 ? lines * letters.line() + 2 : 0;
}

void draw(const BodyDrawing& d, const SeriesPlot& plot) {
  draw_grid_lines(d.ink, d.plot);
  if (std::ranges::all_of(plot.series, [](const auto& series) { return series.points.empty(); }))
    return draw_message(d.ink, d.plot.where, plot.empty);
  draw_steps(d, plot.front, false);
  draw_steps(d, plot.bound, true);
  draw_limit(d, plot);
  for (std::size_t s = 0; s < plot.series.size(); ++s) draw_curve(d, plot, s);
  for (const PlacedMark& mark : placed_marks(d, plot)) draw_mark(d, plot, mark);
}

}  // namespace fovea::drawing
