#include "batch/results_trials.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <type_traits>

#include "data/error.h"

namespace fovea {
namespace {

constexpr Index most_runs = 1000000;  // larger numbers are not believed

/// The entry of the row, if it is of this type.
template <class T>
T read_or(const Document& row, const char* key, T otherwise) {
  const auto value = row.find(key);
  if (value == row.end()) return otherwise;
  if constexpr (std::is_same_v<T, std::string>)
    return value->is_string() ? value->get<T>() : otherwise;
  if constexpr (std::is_same_v<T, bool>) return value->is_boolean() ? value->get<T>() : otherwise;
  return value->is_number_integer() ? value->get<T>() : otherwise;
}

/// Nothing if an id or a value is unknown.
std::optional<std::pair<const Variant*, Values>> setting_of(const Document& row) {
  const std::string id = read_or<std::string>(row, "variant", "");
  const auto variant = std::ranges::find(variants(), id, &Variant::id);
  if (variant == variants().end()) return std::nullopt;
  Values values = defaults(variant->schema);
  for (const Field& field : variant->schema) {
    const auto value = row.find("set." + field.id);
    // A parameter that is newer than the row: its default is what was computed before.
    if (value == row.end()) continue;
    try {
      set_value(variant->schema, values, field.id,
                value->is_string() ? value->get<std::string>() : value->dump());
    } catch (const UsageError&) {
      return std::nullopt;
    }
  }
  return std::pair(&*variant, std::move(values));
}

std::optional<double> number_in(const Document& row, const std::string& key) {
  const auto value = row.find(key);
  if (value == row.end()) return std::nullopt;
  if (value->is_number()) return value->get<double>();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  if (*value == "infinite") return infinity;
  if (*value == "-infinite") return -infinity;
  return std::nullopt;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  if (values.size() % 2 || std::isinf(values[middle])) return values[middle];
  return 0.5 * (values[middle - 1] + values[middle]);
}

void measure_over(const std::vector<Document>& seeds, Trial& trial) {
  for (const Measure& measure : measures()) {
    std::vector<double> found;
    for (const Document& row : seeds)
      if (const auto number = number_in(row, measure.id)) found.push_back(*number);
    auto& measured = trial.measured.emplace_back();
    if (!found.empty()) measured = Measured{.value = median_of(std::move(found))};
  }
  for (const Document& row : seeds) {
    const auto runs = static_cast<int>(std::min(read_or(row, "runs", Index{-1}), most_runs));
    if (runs < 0) continue;
    MeasuredTime time = trial.time.value_or(MeasuredTime{});
    const int before = trial.time ? time.timing.total.samples : runs;
    time.timing.total.samples = std::min(before, runs);
    time.slow = time.slow || read_or(row, "slow_machine", false);
    trial.time = time;
  }
}

}  // namespace

std::vector<Trial> trials_of(const ResultsTable& table) {
  using Key = std::tuple<std::string, Index, Index, const Variant*, Values>;
  std::map<Key, std::size_t> places;
  std::vector<Trial> trials;
  std::vector<std::vector<Document>> rows;
  for (const auto& [item, line] : table.rows()) {
    if (line.failed) continue;
    Document row = Document::parse(line.line);
    const auto setting = setting_of(row);
    if (!setting) continue;
    Trial trial{.variant = setting->first,
                .values = setting->second,
                .source = read_or<std::string>(row, "source", ""),
                .layer = read_or(row, "layer", Index{0}),
                .head = read_or(row, "head", Index{0}),
                .n = read_or(row, "n", Index{0}),
                .causal = read_or(row, "causal", false)};
    const auto [place, added] = places.try_emplace(
        {trial.source, trial.layer, trial.head, trial.variant, trial.values}, trials.size());
    if (added) {
      trials.push_back(std::move(trial));
      rows.emplace_back();
    }
    rows[place->second].push_back(std::move(row));
  }
  for (std::size_t t = 0; t < trials.size(); ++t) measure_over(rows[t], trials[t]);
  return trials;
}

}  // namespace fovea
