#include "figure/sweep_axis.h"

#include <QString>
#include <algorithm>
#include <cmath>
#include <limits>

namespace fovea {
namespace {

std::string in_units(double value, double base, std::initializer_list<const char*> units) {
  auto unit = units.begin();
  while (value >= base * (1 - 1e-9) && unit + 1 != units.end()) value /= base, ++unit;
  return QString::number(value, 'g', 4).toStdString() + ' ' + *unit;
}

std::string amount_text(double value, Quantity quantity) {
  if (quantity == Quantity::memory) return in_units(value, 1024, {"B", "KiB", "MiB", "GiB"});
  if (quantity == Quantity::error) return number_text(value);
  return value < 1e3 ? in_units(value * 1e3, 1e3, {"µs", "ms"})
                     : QString::number(value / 1e3, 'g', 4).toStdString() + " s";
}

/// Powers of the base, thinned out to `most`; between those of ten, where there are few, others
/// too.
std::vector<Tick> power_ticks(double low, double high, int most, double base,
                              const std::function<std::string(double)>& text) {
  const auto within = [&](std::initializer_list<double> multiples, int stride) {
    std::vector<Tick> ticks;
    const int first = static_cast<int>(std::floor(std::log(low) / std::log(base))) - 1,
              last = static_cast<int>(std::ceil(std::log(high) / std::log(base))) + 1;
    for (int e = first; e <= last; ++e)
      for (const double m : multiples) {
        const double at = m * std::pow(base, e);
        if (((e % stride) + stride) % stride == 0 && at >= low * (1 - 1e-9) &&
            at <= high * (1 + 1e-9))
          ticks.push_back({at, text(at)});
      }
    return ticks;
  };
  for (int stride = 1;; ++stride) {
    std::vector<Tick> ticks = within({1}, stride);
    if (static_cast<int>(ticks.size()) > most) continue;
    if (ticks.size() >= 3 || stride > 1 || base < 10) return ticks;
    ticks = within({1, 2, 5}, 1);
    return static_cast<int>(ticks.size()) <= most ? ticks : within({1, 3}, 1);
  }
}

}  // namespace

std::optional<Amount> amount_of(const SweepPoint& point, Quantity quantity, SweepTime time) {
  const StageSummary& t = time_of(point, time);
  if (quantity == Quantity::time) return Amount{t.median_ms, t.p10_ms, t.p90_ms};
  if (quantity == Quantity::memory) return Amount{point.bytes, point.bytes, point.bytes};
  if (!point.error || !std::isfinite(*point.error)) return std::nullopt;
  return Amount{*point.error, *point.error, *point.error};
}

std::vector<Tick> amount_ticks(double low, double high, int most, Quantity quantity) {
  return power_ticks(low, high, most, quantity == Quantity::memory ? 2 : 10,
                     [&](double v) { return amount_text(v, quantity); });
}

std::vector<Tick> length_ticks(const std::vector<Index>& lengths, const PanelAxis& axis,
                               const Rect& plot, const Lettering& letters) {
  std::vector<Tick> ticks;
  double free = std::numeric_limits<double>::infinity();
  for (auto n = lengths.rbegin(); n != lengths.rend(); ++n) {
    const std::string label = std::to_string(*n);
    const auto at = static_cast<double>(*n);
    const double x = axis.place(at, plot.x, plot.right()), half = letters.width(label) / 2;
    const bool fits = x + half + 3 <= free;
    ticks.push_back({at, fits ? label : std::string()});
    if (fits) free = x - half;
  }
  std::ranges::reverse(ticks);
  return ticks;
}

}  // namespace fovea
