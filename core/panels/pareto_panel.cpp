#include "panels/pareto_panel.h"

#include <algorithm>
#include <cmath>

#include "data/number_text.h"
#include "session/session.h"

namespace fovea {
namespace {

bool can_be_drawn(const SettingSpread& setting) {
  return setting.heads > 0 && std::isfinite(setting.x.median) && std::isfinite(setting.y.median);
}

SeriesPlot::Unit unit_of(const Quantity& quantity) {
  switch (quantity.measure().unit) {
    case Measure::Unit::count:
      return SeriesPlot::Unit::count;
    case Measure::Unit::bytes:
      return SeriesPlot::Unit::bytes;
    case Measure::Unit::milliseconds:
      return SeriesPlot::Unit::milliseconds;
    case Measure::Unit::none:
    case Measure::Unit::times:
      break;
  }
  return SeriesPlot::Unit::none;
}

/// What the settings of one curve have in common: everything but the parameter.
Column curve_of(const SettingSpread& setting, const Quantity& x) {
  Column curve{.variant = setting.variant->id, .values = setting.values};
  for (std::size_t f = 0; f < curve.values.size(); ++f)
    if (setting.variant->schema[f].id == x.measure().id)
      curve.values[f] = setting.variant->schema[f].standard;
  return curve;
}

bool together(const SettingSpread& a, const SettingSpread& b, const Quantity& x) {
  if (!x.is_parameter()) return a.variant == b.variant;
  return a.n == b.n && curve_of(a, x) == curve_of(b, x);
}

/// A series each: the first setting of it. Variants stand in the order of their table, so that a
/// column of one more setting changes no colour.
std::vector<const SettingSpread*> series_of(const std::vector<SettingSpread>& settings,
                                            const Quantity& x) {
  std::vector<const SettingSpread*> series;
  for (const SettingSpread& setting : settings)
    if (std::ranges::none_of(series,
                             [&](const SettingSpread* s) { return together(*s, setting, x); }))
      series.push_back(&setting);
  if (!x.is_parameter())
    std::ranges::stable_sort(series, {}, [](const SettingSpread* s) {
      return std::ranges::find(variants(), s->variant->id, &Variant::id) - variants().begin();
    });
  return series;
}

SeriesPlot::Point point_of(const SettingSpread& setting, bool on_curve) {
  const double y = setting.y.median;
  SeriesPlot::Point point{.n = setting.x.median,
                          .value = y,
                          .low = y,
                          .high = y,
                          .joined = on_curve,
                          .hollow = !setting.on_front && !on_curve,
                          .framed = setting.own};
  if (!setting.interval) return point;
  point.low = setting.interval->low;
  point.high = std::isfinite(setting.interval->high) ? setting.interval->high : y;
  return point;
}

/// The ends of an axis that holds all values but those far from the middle half of them: three
/// times as far as that half is wide on a logarithmic axis, and more than a factor of 32. Nothing
/// if all values are within.
std::optional<SeriesPlot::Ends> ends_of_most(std::vector<double> values) {
  constexpr double far = 3, headroom = 1.25;
  constexpr std::size_t few = 8;
  std::erase_if(values, [](double value) { return !(value > 0); });
  if (values.size() < few) return std::nullopt;
  std::ranges::sort(values);
  const double low = std::log10(values[values.size() / 4]),
               high = std::log10(values[values.size() - 1 - values.size() / 4]);
  const double reach = std::max(1.5, far * (high - low));
  const SeriesPlot::Ends within{std::pow(10, low - reach), std::pow(10, high + reach)};
  const auto first = std::ranges::lower_bound(values, within.low),
             end = std::ranges::upper_bound(values, within.high);
  if (first == values.begin() && end == values.end()) return std::nullopt;
  return SeriesPlot::Ends{*first / headroom, *std::prev(end) * headroom};
}

Index points_beyond(const SeriesPlot& plot) {
  const auto outside = [](const std::optional<SeriesPlot::Ends>& ends, double value) {
    return ends && value > 0 && !ends->hold(value);
  };
  Index count = 0;
  for (const SeriesPlot::Series& series : plot.series)
    for (const SeriesPlot::Point& point : series.points)
      count += outside(plot.x_ends, point.n) || outside(plot.y_ends, point.value);
  return count;
}

bool of_several_lengths(const std::vector<SettingSpread>& settings) {
  return std::ranges::any_of(settings, [&](const auto& s) { return s.n != settings[0].n; });
}

std::string caption_of(const std::vector<SettingSpread>& settings, bool curves) {
  Index most = 0, infinite = 0, absent = 0, refused = 0, few = 0, slow = 0;
  bool bars = false, endless = false;
  for (const SettingSpread& setting : settings) {
    most = std::max(most, setting.heads);
    bars = bars || (setting.interval && can_be_drawn(setting));
    endless = endless || (setting.interval && std::isinf(setting.interval->high));
    if (setting.heads > 0)
      infinite += !can_be_drawn(setting);
    else
      ++(setting.refused > 0 ? refused : absent);
    few += setting.few_runs;
    slow += setting.slow;
  }
  const bool fewer =
      std::ranges::any_of(settings, [&](const auto& s) { return s.heads > 0 && s.heads < most; });
  const auto elsewhere = std::ranges::count_if(
      settings, [](const auto& s) { return can_be_drawn(s) && !s.on_all_heads; });
  std::string text;
  if (most > 1)
    text = "Points: medians of " + std::string(fewer ? "up to " : "") + plural(most, "head") +
           (bars ? ", bars: 95 % intervals of the median." : ".");
  else if (bars)
    text = "Bars: 95 % intervals over seeds, of settings with random choices.";
  if (!curves) text += " Filled: on the Pareto front.";
  if (std::ranges::any_of(settings, [](const auto& s) { return s.own && can_be_drawn(s); }))
    text += " Framed: columns of the canvas.";
  if (!curves && of_several_lengths(settings)) text += " Each length has a front of its own.";
  if (!curves && elsewhere > 0)
    text +=
        " Not on the front: " + plural(elsewhere, "setting") + " measured on fewer or other heads.";
  if (endless) text += " A bar that ends at its point has no upper end.";
  const auto add = [&](Index count, const char* why) {
    if (count > 0) text += " Not shown: " + plural(count, "setting") + why;
  };
  add(infinite, ", infinite.");
  add(absent, ", not defined.");
  add(refused, ", not applicable.");
  if (few > 0)
    text += " " + plural(few, "setting") + " with times of fewer than " +
            std::to_string(enough_samples) + " runs.";
  if (slow > 0)
    text += " Measured on a slowed machine: the times of " + plural(slow, "setting") + ".";
  return text.starts_with(' ') ? text.substr(1) : text;
}

/// What is said of a budget and of points that are beyond the axes.
std::string words_of_axes(const ParetoPanel& in, const SeriesPlot& plot) {
  std::string text;
  if (in.at_most)
    text += " Dashed line: a cost of " + format_drawn(*in.at_most) + "; dearer settings are pale.";
  if (plot.bound.size() > 1)
    text += " Dashed steps: the oracle, the blocks of the largest true mass.";
  if (const Index beyond = points_beyond(plot); beyond > 0)
    text += " Arrows: " + plural(beyond, "setting") + " beyond the axes.";
  return text;
}

/// "Longformer"; if a variant has several curves, with what tells them apart: "Longformer, globals
/// 4".
std::vector<std::string> names_of(const std::vector<const SettingSpread*>& series,
                                  const Quantity& x) {
  std::vector<std::string> names;
  if (!x.is_parameter()) {
    for (const SettingSpread* s : series) names.push_back(s->variant->label);
    return names;
  }
  std::vector<Column> curves;
  for (const SettingSpread* s : series) curves.push_back(curve_of(*s, x));
  const bool lengths =
      std::ranges::any_of(series, [&](const auto* s) { return s->n != series[0]->n; });
  for (std::size_t s = 0; s < series.size(); ++s) {
    // Equal curves are of different lengths.
    std::vector<Column> others = curves;
    std::erase_if(others, [&](const Column& other) { return other == curves[s]; });
    others.push_back(curves[s]);
    names.push_back(label_of(others, others.size() - 1));
    if (lengths) names.back() += ", n = " + std::to_string(series[s]->n);
  }
  return names;
}

/// The steps of settings over which x gets worse, from the best x on.
std::vector<std::pair<double, double>> steps_of(std::vector<const SettingSpread*> front,
                                                const Quantity& x) {
  const double towards_worse = x.more_is_better() ? -1 : 1;
  std::ranges::sort(front, {}, [&](const SettingSpread* s) { return towards_worse * s->x.median; });
  std::vector<std::pair<double, double>> steps;
  for (const SettingSpread* setting : front)
    steps.emplace_back(setting->x.median, setting->y.median);
  return steps;
}

/// The settings of a bound that no other setting of it surpasses.
std::vector<const SettingSpread*> front_of_bound(const ParetoPanel& in) {
  std::vector<const SettingSpread*> settings, front;
  std::vector<ParetoPoint> points;
  for (const SettingSpread& s : in.settings) {
    if (!s.variant->bound || !s.on_all_heads || !can_be_drawn(s)) continue;
    settings.push_back(&s);
    points.push_back({in.x.more_is_better() ? -s.x.median : s.x.median,
                      in.y.more_is_better() ? -s.y.median : s.y.median});
  }
  for (const std::size_t place : pareto_front(points)) front.push_back(settings[place]);
  return front;
}

}  // namespace

std::vector<std::vector<std::size_t>> drawn_settings(const std::vector<SettingSpread>& settings,
                                                     const Quantity& x) {
  const auto series = series_of(settings, x);
  std::vector<std::vector<std::size_t>> drawn(series.size());
  for (std::size_t s = 0; s < settings.size(); ++s) {
    if (!can_be_drawn(settings[s])) continue;
    const auto of = std::ranges::find_if(
        series, [&](const SettingSpread* first) { return together(*first, settings[s], x); });
    drawn[of - series.begin()].push_back(s);
  }
  if (x.is_parameter())
    for (auto& places : drawn)
      std::ranges::sort(places, {}, [&](std::size_t s) { return settings[s].x.median; });
  return drawn;
}

Panel make_panel(const ParetoPanel& in) {
  SeriesPlot plot{.x_label = in.x.measure().label,
                  .unit = unit_of(in.y),
                  .empty = in.message,
                  .y_label = in.y.measure().label,
                  .x_unit = unit_of(in.x),
                  .scattered = true,
                  .x_ends = in.x_ends,
                  .y_ends = in.y_ends,
                  .limit = in.at_most};
  std::vector<const SettingSpread*> front;
  std::vector<double> xs, ys;
  for (const auto& places : drawn_settings(in.settings, in.x)) {
    auto& series = plot.series.emplace_back();
    for (const std::size_t place : places) {
      const SettingSpread& setting = in.settings[place];
      series.points.push_back(point_of(setting, in.x.is_parameter()));
      series.points.back().ringed = in.chosen == place;
      series.points.back().pale = in.at_most && setting.x.median > *in.at_most;
      xs.push_back(setting.x.median);
      ys.push_back(setting.y.median);
      if (setting.on_front) front.push_back(&setting);
    }
  }
  if (!in.x.is_parameter()) {
    if (!plot.x_ends) plot.x_ends = ends_of_most(std::move(xs));
    if (!plot.y_ends) plot.y_ends = ends_of_most(std::move(ys));
  }
  const auto names = names_of(series_of(in.settings, in.x), in.x);
  for (std::size_t s = 0; s < names.size(); ++s) plot.series[s].name = names[s];
  if (!of_several_lengths(in.settings)) {  // no line joins different fronts
    plot.front = steps_of(front, in.x);
    if (!in.x.is_parameter()) plot.bound = steps_of(front_of_bound(in), in.x);
  }
  return {.title = in.y.measure().label + " against " + in.x.measure().label,
          .caption = caption_of(in.settings, in.x.is_parameter()) + words_of_axes(in, plot),
          .body = std::move(plot)};
}

}  // namespace fovea
