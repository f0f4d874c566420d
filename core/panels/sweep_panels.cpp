#include "panels/sweep_panels.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

enum class SweptNumber { time, memory, error };

/// Nothing if it was not measured.
std::optional<SeriesPlot::Point> point_of(const SweepPoint& point, SweptNumber number,
                                          SweepTime time) {
  SeriesPlot::Point out{.n = double(point.n), .hollow = !point.fitted.empty()};
  if (number == SweptNumber::time) {
    const StageSummary& t = time_of(point, time);
    out.value = t.median_ms, out.low = t.p10_ms, out.high = t.p90_ms;
    return out;
  }
  if (number == SweptNumber::error && (!point.error || !std::isfinite(*point.error)))
    return std::nullopt;
  out.value = out.low = out.high = number == SweptNumber::error ? *point.error : point.bytes;
  return out;
}

/// The length from which a series is faster than exact, marked on the curve of exact.
std::optional<SeriesPlot::Mark> mark_of(const SweepPanels& in, std::size_t series) {
  const Crossover crossover = crossover_of(in.sweep, series, in.time);
  if (series == 0 || crossover.kind != Crossover::Kind::at) return std::nullopt;
  const auto exact_ms = [&](Index n) {
    return time_of(*in.sweep.series.front().at(n), in.time).median_ms;
  };
  const double from = exact_ms(crossover.below), to = exact_ms(crossover.above);
  const double share =
      std::log(crossover.n / crossover.below) / std::log(double(crossover.above) / crossover.below);
  return SeriesPlot::Mark{crossover.n, from * std::pow(to / from, share),
                          std::to_string(rounded_n(crossover))};
}

SeriesPlot::Series series_of(const SweepPanels& in, std::size_t s, SweptNumber number) {
  const Sweep& sweep = in.sweep;
  const std::string reading =
      s == 0 ? "the reference" : to_text(crossover_of(sweep, s, in.time), sweep.complete);
  SeriesPlot::Series series{.name = label_of(sweep, s) + ": " + reading};
  std::ptrdiff_t before = -2;  // place of the last point among the lengths
  for (const SweepPoint& point : sweep.series[s].points) {
    auto made = point_of(point, number, in.time);
    if (!made) continue;
    const auto place = std::ranges::find(sweep.lengths, point.n) - sweep.lengths.begin();
    made->joined = place == before + 1;  // otherwise one between was not measured
    made->weak = number == SweptNumber::time && (point.few_samples() || throttled(sweep, point));
    made->ringed = in.chosen == SweepSpot{s, point.n};
    before = place;
    series.points.push_back(*made);
  }
  if (number == SweptNumber::time) series.mark = mark_of(in, s);
  return series;
}

Panel panel_of(const SweepPanels& in, SweptNumber number) {
  using Unit = SeriesPlot::Unit;
  const bool values = in.sweep.has_values;
  const std::string time = in.time == SweepTime::apply ? "Time of apply"
                           : values                    ? "Time from Q, K, V to Z"
                                                       : "Time from Q and K to row sums";
  const auto [title, unit] =
      number == SweptNumber::time ? std::pair{time, Unit::milliseconds}
      : number == SweptNumber::memory
          ? std::pair{std::string("Memory beside Q, K") + (values ? ", V, Z" : "") + ", counted",
                      Unit::bytes}
          : std::pair{std::string("Output error ‖Z̃ − Z‖ / ‖Z‖"), Unit::none};
  SeriesPlot plot{
      .x_label = "n, tokens", .lengths = in.sweep.lengths, .unit = unit, .empty = in.message};
  if (number == SweptNumber::error && !values)
    plot.empty = "Output errors are not known: " + std::string(no_values) + ".";
  for (std::size_t s = 0; s < in.sweep.series.size(); ++s)
    plot.series.push_back(series_of(in, s, number));
  return {.title = title, .body = std::move(plot)};
}

std::string joined(const std::vector<std::string>& parts, const char* between) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : between) + part;
  return text;
}

std::string fitted_note(const Sweep& sweep) {
  std::vector<std::string> parts;
  for (std::size_t s = 0; s < sweep.series.size(); ++s) {
    Index longest = 0;
    for (const SweepPoint& point : sweep.series[s].points)
      if (!point.fitted.empty()) longest = std::max(longest, point.n);
    if (longest > 0) parts.push_back(label_of(sweep, s) + " up to n = " + std::to_string(longest));
  }
  if (parts.empty()) return {};
  return " Hollow: parameters fitted to a shorter n than they are made for (" +
         joined(parts, ", ") + ").";
}

std::string weak_note(const Sweep& sweep) {
  bool few = false, slow = false;
  for (const SweepSeries& series : sweep.series)
    for (const SweepPoint& point : series.points) {
      few = few || point.few_samples();
      slow = slow || throttled(sweep, point);
    }
  if (!few && !slow) return {};
  return std::string(" Dashed: ") +
         (few ? "fewer than " + std::to_string(enough_samples) + " runs" : "") +
         (few && slow ? ", or " : "") +
         (slow ? "the machine ran at less than two thirds of its best pace" : "") + ".";
}

std::string unmeasured_note(const Sweep& sweep) {
  if (!sweep.complete) return {};
  std::vector<std::string> parts;
  for (std::size_t s = 0; s < sweep.series.size(); ++s) {
    const SweepSeries& series = sweep.series[s];
    const Index last = series.points.empty() ? 0 : series.points.back().n;
    if (series.refusals.empty() && last < sweep.lengths.back())
      parts.push_back(label_of(sweep, s) + (last > 0 ? " beyond n = " + std::to_string(last) : ""));
  }
  if (parts.empty()) return {};
  return "Not measured, beyond the time allowed: " + joined(parts, ", ") + ".";
}

}  // namespace

std::vector<Panel> make_panels(const SweepPanels& in) {
  std::vector<Panel> panels;
  for (const SweptNumber number : {SweptNumber::time, SweptNumber::memory, SweptNumber::error})
    panels.push_back(panel_of(in, number));
  return panels;
}

std::vector<std::string> sweep_notes(const Sweep& sweep) {
  if (sweep.series.empty() || sweep.series.front().points.empty()) return {};
  std::vector<std::string> notes{"Points: medians, bars p10 to p90, of prefixes of the head." +
                                 fitted_note(sweep) + weak_note(sweep)};
  if (const std::string note = unmeasured_note(sweep); !note.empty()) notes.push_back(note);
  for (std::size_t s = 0; s < sweep.series.size(); ++s)
    if (const auto& refusals = sweep.series[s].refusals; !refusals.empty())
      notes.push_back(label_of(sweep, s) +
                      " cannot be computed at n = " + std::to_string(refusals.front().first) +
                      (refusals.size() > 1 ? " and others" : "") + ": " + refusals.front().second);
  return notes;
}

}  // namespace fovea
