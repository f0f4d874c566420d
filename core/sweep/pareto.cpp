#include "sweep/pareto.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <new>
#include <numeric>
#include <set>
#include <tuple>

#include "data/error.h"
#include "data/number_text.h"

namespace fovea {
namespace {

/// Null if the variant has no such parameter.
const Field* field_of(const Variant& variant, const std::string& id) {
  const auto it = std::ranges::find(variant.schema, id, &Field::id);
  return it == variant.schema.end() ? nullptr : &*it;
}

std::optional<double> number_of(const Value& value) {
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return static_cast<double>(*whole);
  if (const auto* real = std::get_if<double>(&value)) return *real;
  return std::nullopt;
}

bool is_finite(const ParetoPoint& point) {
  return point.x && point.y && std::isfinite(*point.x) && std::isfinite(*point.y);
}

// A quantile of sorted numbers, which may end in infinity.
double quantile_of(const std::vector<double>& sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto low = static_cast<std::size_t>(std::floor(at));
  const std::size_t high = std::min(low + 1, sorted.size() - 1);
  const double share = at - static_cast<double>(low);
  if (share == 0 || sorted[low] == sorted[high]) return sorted[low];
  return std::isinf(sorted[high]) ? sorted[high]
                                  : sorted[low] + share * (sorted[high] - sorted[low]);
}

void put_spread(SettingSpread& setting, std::vector<double> ys) {
  std::ranges::sort(ys);
  const bool seeds_differ = setting.seeds > 1 && ys.front() < ys.back();
  if (setting.seeds == 1 || seeds_differ) setting.interval = interval_of_median(ys);
  setting.y = spread_of(std::move(ys));
}

void mark_front(std::vector<SettingSpread>& settings, Index n, const Quantity& x,
                const Quantity& y) {
  std::vector<ParetoPoint> points;
  for (const SettingSpread& s : settings) {
    ParetoPoint& point = points.emplace_back();
    if (s.n != n || !s.on_all_heads || s.variant->bound) continue;
    point.x = x.more_is_better() ? -s.x.median : s.x.median;
    point.y = y.more_is_better() ? -s.y.median : s.y.median;
  }
  for (const std::size_t place : pareto_front(points)) settings[place].on_front = true;
}

}  // namespace

const std::vector<Measure>& model_measures() {
  static const std::vector<Measure> table{
      {.id = "loss",
       .label = "growth of the loss per token",
       .definition = "By how much the mean of −ln p of the next token grows, in nats, if attention "
                     "in the model is replaced: the queries and keys of later layers are those of "
                     "the changed model. Below 0: it predicts better.",
       .of = {}},
      {.id = "hidden",
       .label = "relative error of the last hidden states",
       .definition =
           "‖H̃ − H‖ / ‖H‖ in the Frobenius norm, of the hidden states after the last layer "
           "and its norm, if attention in the model is replaced: the queries and keys of "
           "later layers are those of the changed model.",
       .of = {}}};
  return table;
}

void measure_or_refuse(Trial& trial, const std::function<void()>& work) {
  try {
    return work();
  } catch (const Cancelled&) {
    throw;
  } catch (const DeviceLostError&) {
    throw;
  } catch (const Error& error) {
    trial.refused = error.what();
  } catch (const std::bad_alloc&) {
    trial.refused = "not enough memory";
  }
  trial.time.reset();
  trial.measured.clear();
}

const Quantity& quantity_named(const std::string& id) {
  static const std::map<std::string, Quantity> all = [] {
    std::map<std::string, Quantity> known;
    for (const Measure& measure : measures()) known.emplace(measure.id, Quantity(measure.id, ""));
    for (const Measure& measure : model_measures())
      known.emplace(measure.id, Quantity::of_model(measure.id));
    return known;
  }();
  const auto it = all.find(id);
  if (it == all.end())
    throw UsageError("unknown measure '" + id + "'; expected the id of a measure");
  return it->second;
}

Quantity::Quantity(const std::string& id, const std::string& option) {
  const auto& all = measures();
  const auto it = std::ranges::find(all, id == "time" ? "total_ms" : id, &Measure::id);
  place_ = it - all.begin();
  if (it != all.end()) return;
  std::string known;
  for (const Measure& measure : all) known += (known.empty() ? "" : ", ") + measure.id;
  throw UsageError(option + " " + id + "; expected one of " + known);
}

Quantity::Quantity(const std::string& parameter, const std::vector<const Variant*>& variants,
                   const std::string& option) {
  const std::string what = option + " " + parameter;
  for (const Variant* variant : variants) {
    if (variant->reference) continue;
    const Field* field = field_of(*variant, parameter);
    if (!field)
      throw UsageError(what + ": " + variant->label + " (" + variant->id +
                       ") has no such parameter; choose variants that have it with --variant");
    if (!number_of(field->standard))
      throw UsageError(what + ": of " + variant->label + " (" + variant->id +
                       ") it is not a number");
    const std::string label = field->label + (field->unit.empty() ? "" : ", " + field->unit);
    if (!own_)
      own_ = Measure{.id = parameter,
                     .label = label,
                     .definition = field->meaning,
                     .better = Measure::Better::neither,
                     .of = {}};
    else if (own_->label != label)
      own_->label = parameter;  // the id, as their labels differ
  }
  if (!own_) throw UsageError(what + ": no variant was chosen that has parameters");
  kind_ = Kind::parameter;
}

Quantity Quantity::of_model(const std::string& id) {
  const auto it = std::ranges::find(model_measures(), id, &Measure::id);
  if (it == model_measures().end())
    throw UsageError("unknown measure '" + id + "'; expected loss or hidden");
  return Quantity(*it);
}

bool Quantity::is_timed() const {
  const Measure::Unit unit = measure().unit;
  return unit == Measure::Unit::milliseconds || unit == Measure::Unit::times;
}

std::optional<double> Quantity::of(const Trial& trial) const {
  if (is_of_model()) {
    const auto& change = trial.model_change;
    return change && std::isnan(*change) ? std::nullopt : change;
  }
  if (is_parameter()) {
    const Field* field = field_of(*trial.variant, own_->id);
    if (!field) return std::nullopt;
    return number_of(trial.values[field - trial.variant->schema.data()]);
  }
  if (place_ >= trial.measured.size() || !trial.measured[place_]) return std::nullopt;
  const double value = trial.measured[place_]->value;
  return std::isnan(value) ? std::nullopt : std::optional(value);
}

std::vector<std::size_t> pareto_front(const std::vector<ParetoPoint>& points) {
  std::vector<std::size_t> order;
  for (std::size_t i = 0; i < points.size(); ++i)
    if (is_finite(points[i])) order.push_back(i);
  const auto rank = [&](std::size_t i) { return std::tuple(*points[i].x, *points[i].y, i); };
  std::ranges::sort(order, {}, rank);
  // In the order of x, a point is on the front if its y is below all before it, or if it equals the
  // last point of the front.
  std::vector<std::size_t> front;
  for (const std::size_t i : order) {
    const bool first = front.empty();
    if (!first && *points[i].y > *points[front.back()].y) continue;
    if (!first && *points[i].y == *points[front.back()].y && *points[i].x > *points[front.back()].x)
      continue;
    front.push_back(i);
  }
  return front;
}

Spread spread_of(std::vector<double> values) {
  std::ranges::sort(values);
  return {quantile_of(values, 0.5), quantile_of(values, 0.1), quantile_of(values, 0.9)};
}

std::vector<SettingSpread> settings_over_heads(const std::vector<Trial>& trials, const Quantity& x,
                                               const Quantity& y) {
  std::vector<SettingSpread> settings;
  std::vector<std::vector<double>> xs, ys;
  std::map<std::tuple<const Variant*, Index, Values, std::uint64_t>, std::size_t> places;
  using Heads = std::set<std::tuple<std::string, Index, Index>>;  // source, layer, head
  std::vector<Heads> heads;
  for (const Trial& trial : trials) {
    const std::uint64_t seed = trial.variant->reference ? 0 : trial.repeats.value_or(trial.seed);
    const auto [at, first] =
        places.try_emplace({trial.variant, trial.n, trial.values, seed}, settings.size());
    const std::size_t place = at->second;
    if (first) {
      settings.push_back({.variant = trial.variant,
                          .values = trial.values,
                          .seed = seed,
                          .own = trial.own,
                          .n = trial.n});
      heads.emplace_back();
      xs.emplace_back();
      ys.emplace_back();
    }
    SettingSpread& setting = settings[place];
    if (!trial.refused.empty()) {
      if (setting.refused++ == 0) setting.refusal = trial.refused;
      continue;
    }
    const auto at_x = x.of(trial), at_y = y.of(trial);
    if (!at_x || !at_y) {
      ++setting.without;
      continue;
    }
    ++(trial.repeats ? setting.seeds : setting.heads);
    if (!trial.repeats)
      setting.notes = setting.heads > 1 ? std::vector<std::string>() : trial.notes;
    heads[place].emplace(trial.source, trial.layer, trial.head);
    if (trial.time && (x.is_timed() || y.is_timed())) {
      setting.few_runs = setting.few_runs || trial.time->timing.total.samples < enough_samples;
      setting.slow = setting.slow || trial.time->slow;
    }
    xs[place].push_back(*at_x);
    ys[place].push_back(*at_y);
  }
  for (std::size_t s = 0; s < settings.size(); ++s)
    if (settings[s].heads > 0) {
      settings[s].x = spread_of(std::move(xs[s]));
      put_spread(settings[s], std::move(ys[s]));
    }
  std::map<Index, const Heads*> most;  // by length: the heads of the setting with the most heads
  for (std::size_t s = 0; s < settings.size(); ++s) {
    const Heads*& known = most[settings[s].n];
    if (!known || heads[s].size() > known->size()) known = &heads[s];
  }
  for (std::size_t s = 0; s < settings.size(); ++s)
    settings[s].on_all_heads = settings[s].heads > 0 && heads[s] == *most[settings[s].n];
  if (x.is_parameter() || y.is_parameter()) return settings;
  for (const auto& [n, measured] : most) mark_front(settings, n, x, y);
  return settings;
}

std::string interval_text(const SettingSpread& setting, const Quantity& y) {
  if (y.is_of_model()) return "no interval: the model was measured once";
  const std::string over =
      setting.heads > 1 ? plural(setting.heads, "head") : plural(setting.seeds, "seed");
  if (setting.interval) return over;
  // Only what a planner draws or derives can depend on the seed.
  const bool may_differ =
      setting.seeds > 1 ? setting.y.p10 < setting.y.p90 : !setting.variant->structure.empty();
  if (setting.heads == 1 && !may_differ) return "no interval: one head, and no random choices";
  return "no interval: " + over + ", and it takes " + std::to_string(enough_samples);
}

const Trial* best_choice(const std::vector<const Trial*>& trials, const Budget& budget) {
  const Quantity &limited = quantity_named(budget.measure), &wanted = quantity_named(budget.least);
  const Trial* best = nullptr;
  std::pair<double, double> least{};
  for (const Trial* trial : trials) {
    if (trial->variant->bound) continue;
    const auto spent = limited.of(*trial), amount = wanted.of(*trial);
    if (!spent || !amount || !(*spent <= budget.most) || !std::isfinite(*amount)) continue;
    const std::pair now{*amount, *spent};
    if (best && !(now < least)) continue;
    best = trial;
    least = now;
  }
  return best;
}

}  // namespace fovea
