#include "panels/pareto_panel.h"

#include <algorithm>
#include <cmath>

#include "data/number_text.h"

namespace fovea {
namespace {

bool can_be_drawn(const SettingSpread& setting) {
  return setting.heads > 0 && std::isfinite(setting.x.median) && std::isfinite(setting.y.median);
}

/// A series each.
std::vector<const Variant*> variants_of(const std::vector<SettingSpread>& settings) {
  std::vector<const Variant*> variants;
  for (const SettingSpread& setting : settings)
    if (std::ranges::find(variants, setting.variant) == variants.end())
      variants.push_back(setting.variant);
  return variants;
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

SeriesPlot::Point point_of(const SettingSpread& setting) {
  const Spread& y = setting.y;
  SeriesPlot::Point point{.n = setting.x.median,
                          .value = y.median,
                          .low = y.median,
                          .high = y.median,
                          .joined = false,
                          .hollow = !setting.on_front};
  if (!setting.on_front) return point;
  point.low = y.p10;
  point.high = std::isfinite(y.p90) ? y.p90 : y.median;
  return point;
}

bool of_several_lengths(const std::vector<SettingSpread>& settings) {
  return std::ranges::any_of(settings, [&](const auto& s) { return s.n != settings[0].n; });
}

std::string caption_of(const std::vector<SettingSpread>& settings) {
  Index most = 0, infinite = 0, absent = 0, refused = 0, few = 0, slow = 0;
  bool endless = false;  // bars
  for (const SettingSpread& setting : settings) {
    most = std::max(most, setting.heads);
    endless = endless || (setting.on_front && std::isinf(setting.y.p90));
    if (setting.heads > 0)
      infinite += !can_be_drawn(setting);
    else
      ++(setting.refused > 0 ? refused : absent);
    few += setting.few_runs;
    slow += setting.slow;
  }
  const bool fewer =
      std::ranges::any_of(settings, [&](const auto& s) { return s.heads > 0 && s.heads < most; });
  std::string text = "Filled: on the Pareto front.";
  if (most > 1)
    text = "Points: medians of " + std::string(fewer ? "up to " : "") + plural(most, "head") +
           ". Filled: on the Pareto front, bars p10 to p90.";
  if (of_several_lengths(settings)) text += " Each length has a front of its own.";
  if (endless) text += " A bar that ends at its point has no upper end.";
  const auto add = [&](Index count, const char* why) {
    if (count > 0) text += " Not shown: " + plural(count, "setting") + why;
  };
  add(infinite, ", infinite.");
  add(absent, ", not defined.");
  add(refused, ", refused.");
  if (few > 0) text += " Of fewer than 5 runs: the times of " + plural(few, "setting") + ".";
  if (slow > 0)
    text += " Measured on a slowed machine: the times of " + plural(slow, "setting") + ".";
  return text;
}

}  // namespace

std::vector<std::vector<std::size_t>> drawn_settings(const std::vector<SettingSpread>& settings) {
  const auto variants = variants_of(settings);
  std::vector<std::vector<std::size_t>> drawn(variants.size());
  for (std::size_t s = 0; s < settings.size(); ++s) {
    const auto series = std::ranges::find(variants, settings[s].variant) - variants.begin();
    if (can_be_drawn(settings[s])) drawn[static_cast<std::size_t>(series)].push_back(s);
  }
  return drawn;
}

Panel make_panel(const ParetoPanel& in) {
  SeriesPlot plot{.x_label = in.x.measure().label,
                  .unit = unit_of(in.y),
                  .empty = in.message,
                  .y_label = in.y.measure().label,
                  .x_unit = unit_of(in.x),
                  .scattered = true};
  std::vector<const SettingSpread*> front;
  for (const auto& places : drawn_settings(in.settings)) {
    auto& series = plot.series.emplace_back();
    for (const std::size_t place : places) {
      const SettingSpread& setting = in.settings[place];
      series.points.push_back(point_of(setting));
      series.points.back().ringed = in.chosen == place;
      if (setting.on_front) front.push_back(&setting);
    }
  }
  const auto variants = variants_of(in.settings);
  for (std::size_t v = 0; v < variants.size(); ++v) plot.series[v].name = variants[v]->label;
  const double towards_worse = in.x.measure().better == Measure::Better::more ? -1 : 1;
  std::ranges::sort(front, {}, [&](const SettingSpread* s) { return towards_worse * s->x.median; });
  if (of_several_lengths(in.settings)) front.clear();  // no line joins different fronts
  for (const SettingSpread* setting : front)
    plot.front.emplace_back(setting->x.median, setting->y.median);
  return {.title = in.y.measure().label + " against " + in.x.measure().label,
          .caption = caption_of(in.settings),
          .body = std::move(plot)};
}

}  // namespace fovea
