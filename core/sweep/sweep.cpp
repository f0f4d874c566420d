#include "sweep/sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "evaluate/pace.h"

namespace fovea {
namespace {

constexpr Index usual_first = 256, least_first = 16;

std::size_t index_of(const Schema& schema, const std::string& id) {
  return std::ranges::find(schema, id, &Field::id) - schema.begin();
}

std::string text_of(const Schema& schema, const Values& values, const Values& before) {
  std::string text;
  for (std::size_t f = 0; f < schema.size(); ++f)
    if (values[f] != before[f]) text += (text.empty() ? "" : ", ") + to_text(schema[f], values[f]);
  return text;
}

std::string csv_field(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? "\"\"" : std::string(1, c);
  return out + "\"";
}

void write_line(std::ostream& out, const Sweep& sweep, std::size_t s, const SweepPoint& point) {
  const Schema& schema = find_variant(sweep.series[s].column.variant).schema;
  std::string parameters;
  for (std::size_t f = 0; f < schema.size(); ++f)
    parameters += (f > 0 ? " " : "") + schema[f].id + "=" + to_text(point.values[f]);
  out << csv_field(label_of(sweep, s)) << ',' << csv_field(parameters) << ','
      << csv_field(point.fitted) << ',' << point.n << ',' << point.total.samples;
  for (const StageSummary* time : {&point.total, &point.apply})
    out << ',' << time->median_ms << ',' << time->p10_ms << ',' << time->p90_ms;
  out << ',' << point.learning.median_ms << ',' << point.plan.median_ms << ','
      << point.upload.median_ms << ',' << point.bytes << ',';
  if (point.error) out << *point.error;
  for (const SweepTime time : {SweepTime::total, SweepTime::apply}) {
    const auto ratio = ratio_to_exact(sweep, point, time);
    out << ',';
    if (ratio) out << *ratio;
  }
  out << ',' << (point.few_samples() ? "few runs" : "")
      << (point.few_samples() && throttled(sweep, point) ? "; " : "")
      << (throttled(sweep, point) ? "slow machine" : "") << '\n';
}

}  // namespace

const SweepPoint* SweepSeries::at(Index n) const {
  const auto it = std::ranges::find(points, n, &SweepPoint::n);
  return it == points.end() ? nullptr : &*it;
}

const StageSummary& time_of(const SweepPoint& point, SweepTime time) {
  return time == SweepTime::total ? point.total : point.apply;
}

std::vector<Index> sweep_lengths(Index n) {
  Index first = usual_first;
  while (first > least_first && 8 * first > n) first /= 2;
  std::vector<Index> lengths;
  for (Index m = first; m < n; m *= 2) lengths.push_back(m);
  lengths.push_back(n);
  return lengths;
}

FittedValues fitted_values(const Column& column, Index own_n, Index n) {
  const Schema& schema = find_variant(column.variant).schema;
  FittedValues out{.values = column.values, .fitted = {}};
  if (n >= own_n) return out;
  const Values shorter = values_for_length(find_variant(column.variant), n);
  for (std::size_t f = 0; f < schema.size(); ++f) {
    const auto span = schema[f].span ? schema[f].span(column.values[f]) : std::nullopt;
    if (!span || *span < static_cast<double>(n) || *span >= static_cast<double>(own_n)) continue;
    out.values[f] = shorter[f];
    for (const std::string& id : schema[f].followers) {
      const std::size_t other = index_of(schema, id);
      out.values[other] = shorter[other];
    }
  }
  out.fitted = text_of(schema, out.values, column.values);
  return out;
}

namespace {

Crossover crossing(const std::vector<std::pair<Index, double>>& ratios) {
  if (ratios.empty()) return {};
  std::size_t first = ratios.size();  // from this one on all are faster
  while (first > 0 && ratios[first - 1].second < 1) --first;
  if (first == ratios.size()) return {.kind = Crossover::Kind::never};
  const auto& [above, fast] = ratios[first];
  if (first == 0) return {.kind = Crossover::Kind::everywhere, .above = above};
  const auto& [below, slow_ratio] = ratios[first - 1];
  const double from = std::log(below), to = std::log(above);
  const double t = std::log(slow_ratio) / (std::log(slow_ratio) - std::log(fast));
  return {.kind = Crossover::Kind::at,
          .n = std::exp(from + t * (to - from)),
          .below = below,
          .above = above};
}

double place_of(const Crossover& crossover) {
  return crossover.kind == Crossover::Kind::everywhere ? 0
         : crossover.kind == Crossover::Kind::at       ? crossover.n
                                                       : std::numeric_limits<double>::infinity();
}

Index rounded(double n) {
  const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(n)) - 1));
  return static_cast<Index>(std::round(n / unit) * unit);
}

/// " (200 – 410)": where it may lie as well. Empty if times do not vary.
std::string doubt_text(const Crossover& crossover) {
  const bool early = crossover.earliest == 0, late = std::isinf(crossover.latest);
  if (crossover.earliest == crossover.latest) return "";
  if (early && late) return " (times vary)";
  if (early) return " (at most " + std::to_string(rounded(crossover.latest)) + ")";
  if (late) return " (at least " + std::to_string(rounded(crossover.earliest)) + ")";
  return " (" + std::to_string(rounded(crossover.earliest)) + " – " +
         std::to_string(rounded(crossover.latest)) + ")";
}

}  // namespace

Crossover crossover_of(const std::vector<std::pair<Index, double>>& ratios) {
  Crossover crossover = crossing(ratios);
  crossover.earliest = crossover.latest = place_of(crossover);
  return crossover;
}

Crossover crossover_of(const Sweep& sweep, std::size_t series, SweepTime time) {
  std::vector<std::pair<Index, double>> ratios, least, largest;
  for (const SweepPoint& point : sweep.series[series].points)
    if (const auto ratio = ratio_to_exact(sweep, point, time)) {
      const StageSummary &its = time_of(point, time),
                         &exact = time_of(*sweep.series.front().at(point.n), time);
      ratios.emplace_back(point.n, *ratio);
      least.emplace_back(point.n, its.p10_ms / exact.p90_ms);
      largest.emplace_back(point.n, its.p90_ms / exact.p10_ms);
    }
  Crossover crossover = crossover_of(ratios);
  crossover.earliest = crossover_of(least).earliest;
  crossover.latest = crossover_of(largest).latest;
  for (const Index n : {crossover.below, crossover.above})
    if (const SweepPoint* point = sweep.series[series].at(n))
      crossover.fitted = crossover.fitted || !point->fitted.empty();
  return crossover;
}

Index rounded_n(const Crossover& crossover) {
  return rounded(crossover.n);
}

std::string to_text(const Crossover& crossover, bool complete) {
  switch (crossover.kind) {
    case Crossover::Kind::unknown:
      return complete ? "not comparable: exact was not measured" : "not measured yet";
    case Crossover::Kind::never:
      if (complete && std::isfinite(crossover.earliest))
        return "not decided: times vary by more than the difference";
      return complete ? "not faster within the measured range" : "not faster so far";
    case Crossover::Kind::everywhere:
      if (complete && std::isinf(crossover.latest))
        return "not decided: times vary by more than the difference";
      if (complete && crossover.latest > 0)
        return "faster from n ≤ " + std::to_string(rounded(crossover.latest));
      return complete ? "faster at every n measured" : "faster so far";
    case Crossover::Kind::at:
      return "faster from n ≈ " + std::to_string(rounded_n(crossover)) + doubt_text(crossover) +
             (crossover.fitted ? " (parameters fitted)" : "");
  }
  return "";
}

std::optional<double> ratio_to_exact(const Sweep& sweep, const SweepPoint& point, SweepTime time) {
  const SweepPoint* exact = sweep.series.front().at(point.n);
  const double ms = time_of(point, time).median_ms;
  if (!exact || !(ms > 0) || !(time_of(*exact, time).median_ms > 0)) return std::nullopt;
  return ms / time_of(*exact, time).median_ms;
}

bool throttled(const Sweep& sweep, const SweepPoint& point) {
  return slow_pace(point.pace_ms, sweep.best_pace_ms);
}

std::string label_of(const Sweep& sweep, std::size_t series) {
  std::vector<Column> columns;
  for (const SweepSeries& other : sweep.series) columns.push_back(other.column);
  return label_of(columns, series);
}

std::string to_csv(const Sweep& sweep) {
  std::ostringstream out;
  out << "variant,parameters,fitted,n,runs,total_ms,total_p10_ms,total_p90_ms,apply_ms,"
         "apply_p10_ms,apply_p90_ms,learning_ms,plan_ms,upload_ms,counted_bytes,output_rel_fro,"
         "total_over_exact,apply_over_exact,remark\n";
  for (std::size_t s = 0; s < sweep.series.size(); ++s)
    for (const SweepPoint& point : sweep.series[s].points) write_line(out, sweep, s, point);
  return out.str();
}

}  // namespace fovea
