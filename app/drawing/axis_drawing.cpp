#include <algorithm>

#include "drawing/axes.h"

namespace fovea::drawing {
namespace {

// In letters.
constexpr double kTick = 0.3, kTickGap = 0.22, kNameGap = 0.2;

double widest_label(const PanelAxis& axis, const Lettering& letters) {
  double widest = 0;
  for (const Tick& tick : axis.ticks) widest = std::max(widest, letters.width(tick.label));
  return widest;
}

/// Kept within the plot, but for a little.
double kept(double at, double half, double from, double to, double over) {
  return std::max(from - over + half, std::min(at, to + over - half));
}

}  // namespace

Rect Plot::box(IndexRange rows, IndexRange cols) const {
  const double left = x(static_cast<double>(cols.begin)), top = y(static_cast<double>(rows.begin));
  return {left, top, x(static_cast<double>(cols.end)) - left,
          y(static_cast<double>(rows.end)) - top};
}

double x_axis_height(const PanelAxis& axis, const Lettering& letters, AxisWords words) {
  const double size = letters.size();
  double height = kTick * size;
  if (words.numbers)
    height += axis.named ? widest_label(axis, letters) + 0.5 * size : letters.line();
  return height + (words.label ? letters.line() : 0);
}

double y_axis_width(const PanelAxis& axis, const Lettering& letters, AxisWords words) {
  const double size = letters.size();
  double width = kTick * size;
  if (words.numbers) width += kTickGap * size + widest_label(axis, letters);
  return width + (words.label ? kNameGap * size + letters.line() : 0);
}

void draw_x_axis(Ink& ink, const Plot& plot, AxisWords words) {
  const PanelAxis& axis = *plot.axes.x;
  const Rect& where = plot.where;
  const double size = ink.letters.size(), tick_end = where.bottom() + kTick * size;
  for (const Tick& tick : axis.ticks) {
    const double x = plot.x(tick.at);
    ink.line({x, where.bottom()}, {x, tick_end}, {ink.style.frame});
    if (!words.numbers) continue;
    const double width = ink.letters.width(tick.label);
    if (axis.named) {
      ink.text_upwards({x, tick_end + 0.2 * size + width / 2}, tick.label, ink.style.label);
      continue;
    }
    const double middle = kept(x, width / 2, where.x, where.right(), 0.3 * size);
    ink.write({middle - width / 2, tick_end, width, ink.letters.line()}, tick.label, Align::left,
              ink.style.label);
  }
  if (!words.label) return;
  const double height = x_axis_height(axis, ink.letters, words);
  ink.write({where.x, where.bottom() + height - ink.letters.line() - 0.14 * size, where.width,
             ink.letters.line()},
            ink.letters.elided(axis.label, where.width), Align::centre, ink.style.label);
}

void draw_y_axis(Ink& ink, const Plot& plot, AxisWords words) {
  const PanelAxis& axis = *plot.axes.y;
  const Rect& where = plot.where;
  const double size = ink.letters.size(), line = ink.letters.line();
  const double tick_end = where.x - kTick * size;
  for (const Tick& tick : axis.ticks) {
    const double y = plot.y(tick.at);
    ink.line({tick_end, y}, {where.x, y}, {ink.style.frame});
    if (!words.numbers) continue;
    const double middle = kept(y, 0.5 * size, where.y, where.bottom(), 0.14 * size);
    ink.write({tick_end - kTickGap * size, middle - line / 2, 0, line}, tick.label, Align::right,
              ink.style.label);
  }
  if (!words.label) return;
  const double left = where.x - y_axis_width(axis, ink.letters, words);
  ink.text_upwards({left + line / 2, where.centre().y},
                   ink.letters.elided(axis.label, where.height + 0.3 * size), ink.style.label);
}

void draw_grid_lines(Ink& ink, const Plot& plot) {
  const Rect& where = plot.where;
  if (plot.axes.x->amounts)
    for (const Tick& tick : plot.axes.x->ticks) {
      const double x = plot.x(tick.at);
      if (tick.at > plot.axes.x->low) ink.line({x, where.y}, {x, where.bottom()}, {ink.style.grid});
    }
  if (plot.axes.y->amounts)
    for (const Tick& tick : plot.axes.y->ticks) {
      const double y = plot.y(tick.at);
      if (tick.at > plot.axes.y->low) ink.line({where.x, y}, {where.right(), y}, {ink.style.grid});
    }
}

void draw_amounts_inside(Ink& ink, const Plot& plot) {
  const bool across = plot.axes.x && plot.axes.x->amounts;
  if (!across && !(plot.axes.y && plot.axes.y->amounts)) return;
  const PanelAxis& axis = across ? *plot.axes.x : *plot.axes.y;
  const double height = 1.2 * ink.letters.size(), gap = 0.2 * ink.letters.size();
  for (const Tick& tick : axis.ticks) {
    if (!(tick.at > axis.low)) continue;
    const double width = ink.letters.width(tick.label) + 2 * gap;
    Rect ground{plot.where.x + 0.1 * height, 0, width, height};
    if (across) {
      ground.x = plot.x(tick.at) - width / 2;
      ground.y = plot.where.y + gap;
      if (ground.x < plot.where.x || ground.right() > plot.where.right()) continue;
    } else {
      ground.y = plot.y(tick.at) - height;
      if (ground.y < plot.where.y) ground.y += height;  // below its line
    }
    ink.fill(ground, faded(ink.style.paper, 0.8), gap);  // curves may be high
    ink.write(ground, tick.label, Align::centre, ink.style.faint);
  }
}

}  // namespace fovea::drawing
