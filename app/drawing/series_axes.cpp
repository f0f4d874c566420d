#include "drawing/series_axes.h"

#include <algorithm>
#include <cmath>

#include "data/number_text.h"

namespace fovea::drawing {
namespace {

constexpr double kHeadroom = 1.25;  // beyond its values
// Ratio of its ends: a small part of a decade would exaggerate slopes.
constexpr double kLeastRange = 8;
constexpr double kZeros = 1.4;  // lines that are left for zeros

std::string amount_text(double value, SeriesPlot::Unit unit) {
  switch (unit) {
    case SeriesPlot::Unit::milliseconds:
      return format_time(value, Zeros::drop);
    case SeriesPlot::Unit::bytes:
      return format_bytes(value, Zeros::drop);
    case SeriesPlot::Unit::count:
      return format_count(value, Zeros::drop);
    case SeriesPlot::Unit::none:
      break;
  }
  return format_drawn(value);
}

/// Powers of two for bytes, else powers of ten and, where there is room, numbers between them.
std::vector<Tick> amount_ticks(double low, double high, int most, SeriesPlot::Unit unit) {
  const double base = unit == SeriesPlot::Unit::bytes ? 2 : 10;
  const int first = std::floor(std::log(low) / std::log(base)),
            last = std::ceil(std::log(high) / std::log(base));
  std::vector<Tick> ticks;
  constexpr double few_powers = 4;  // ratio of the ends below which powers leave too few numbers
  if (high < few_powers * low) {
    ticks = linear_ticks(low, high, most);
    for (Tick& tick : ticks) tick.label = amount_text(tick.at, unit);
    return ticks;
  }
  const auto fit = [&](std::initializer_list<double> multiples, int stride) {
    ticks.clear();
    for (int e = first; e <= last; ++e)
      for (const double m : multiples)
        if (const double at = m * std::pow(base, e); e % stride == 0 && at >= low && at <= high)
          ticks.push_back({at, amount_text(at, unit)});
    return std::ssize(ticks) <= most;
  };
  if (base == 10 && (fit({1, 2, 5}, 1) || fit({1, 3}, 1))) return ticks;
  for (int stride = 1; !fit({1}, stride); ++stride) continue;
  return ticks;
}

PanelAxis lengths_axis(const SeriesPlot& plot) {
  PanelAxis axis{.label = plot.x_label, .logarithmic = true, .amounts = true};
  if (plot.lengths.empty()) return axis;
  axis.low = plot.lengths.front() / 1.15;
  axis.high = plot.lengths.back() * 1.15;
  for (const Index n : plot.lengths) axis.ticks.push_back({double(n), std::to_string(n)});
  return axis;
}

/// The amounts on a logarithmic axis.
struct Amounts {
  double low = INFINITY, high = 0;
  bool zeros = false;

  void add(double value, double from, double to) {
    zeros |= value <= 0;
    if (value <= 0) return;
    low = std::min(low, from > 0 ? from : value);
    high = std::max(high, to);
  }
};

/// Numbers stand at least `apart` from each other.
PanelAxis log_axis(const Amounts& amounts, const std::optional<SeriesPlot::Ends>& ends,
                   SeriesPlot::Unit unit, double length, double apart, const Lettering& letters) {
  PanelAxis axis{.low = 0.1, .high = 1, .logarithmic = true, .amounts = true};
  if (amounts.zeros) axis.zeros = std::min(0.5, kZeros * letters.line() / length);
  if (amounts.high > 0) {
    const double widened = std::sqrt(std::max(1.0, kLeastRange * amounts.low / amounts.high));
    axis.low = ends ? ends->low : amounts.low / widened / kHeadroom;
    axis.high = ends ? ends->high : amounts.high * widened * kHeadroom;
    const double most = (1 - axis.zeros) * length / apart;
    axis.ticks = amount_ticks(axis.low, axis.high, std::max(2.0, most), unit);
  }
  if (amounts.zeros) axis.ticks.insert(axis.ticks.begin(), {0, "0"});
  return axis;
}

PanelAxis series_axis(const SeriesPlot& plot, double length, const Lettering& letters) {
  Amounts amounts;
  for (const SeriesPlot::Series& series : plot.series)
    for (const SeriesPlot::Point& point : series.points)
      amounts.add(point.value, point.low, point.high);
  PanelAxis axis = log_axis(amounts, plot.y_ends, plot.unit, length, 1.8 * letters.line(), letters);
  axis.label = plot.y_label;
  return axis;
}

PanelAxis across_series(const SeriesPlot& plot, double length, const Lettering& letters) {
  if (!plot.scattered) return lengths_axis(plot);
  Amounts amounts;
  for (const SeriesPlot::Series& series : plot.series)
    for (const SeriesPlot::Point& point : series.points) amounts.add(point.n, point.n, point.n);
  PanelAxis axis = log_axis(amounts, plot.x_ends, plot.x_unit, length, 4 * letters.size(), letters);
  axis.label = plot.x_label;
  return axis;
}

/// -1 below the low end, 1 above the high end. Zeros have room of their own below it.
int beyond(const std::optional<SeriesPlot::Ends>& ends, double value) {
  if (!ends || value <= 0 || ends->hold(value)) return 0;
  return value < ends->low ? -1 : 1;
}

}  // namespace

Axes series_axes(const SeriesPlot& plot, Point size, const Lettering& letters) {
  return {across_series(plot, size.x, letters), series_axis(plot, size.y, letters)};
}

SeriesPlace place_of(const SeriesPlot::Point& point, const SeriesPlot& plot, const Plot& where) {
  SeriesPlace place{.at = {where.x(point.n), where.y(point.value)},
                    .beyond_x = beyond(plot.x_ends, point.n),
                    .beyond_y = beyond(plot.y_ends, point.value)};
  // Below the low end an axis itself ends, or its zeros begin.
  if (place.beyond_x > 0) place.at.x = where.where.right();
  if (place.beyond_y > 0) place.at.y = where.where.y;
  return place;
}

}  // namespace fovea::drawing
