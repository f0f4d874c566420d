#include "sweep/recommendation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "analysis/median_interval.h"
#include "data/number_text.h"
#include "session/settings.h"
#include "variants/learned_tree.h"

namespace fovea {
namespace {

constexpr const char* cost_id = "ratio_to_exact";

/// Less is better.
double badness(const Quantity& error, const SettingSpread& setting) {
  return error.more_is_better() ? -setting.y.median : setting.y.median;
}

// Divergences and losses have no general scale.
std::optional<double> small_error_of(const Quantity& error) {
  const std::string& id = error.measure().id;
  if (id == "mass_kept") return 0.9;
  const bool relative =
      id.find("rel_") != id.npos || id.starts_with("attention_tv") || id == "hidden";
  return relative ? std::optional(0.1) : std::nullopt;
}

std::vector<SettingSpread> compared(const std::vector<SettingSpread>& all) {
  std::vector<SettingSpread> settings;
  const SettingSpread* most = nullptr;  // its length is the one that is answered for
  for (const SettingSpread& setting : all)
    if (!most || setting.heads > most->heads) most = &setting;
  for (const SettingSpread& setting : all)
    if (!setting.variant->reference && !setting.variant->bound && setting.on_all_heads &&
        setting.n == most->n && std::isfinite(setting.x.median) && std::isfinite(setting.y.median))
      settings.push_back(setting);
  return settings;
}

/// A sentence; empty if nothing was tried.
std::string why_nothing_can_be_compared(const std::vector<SettingSpread>& all,
                                        const Quantity& error) {
  Index refused = 0, others = 0;
  std::string why;
  for (const SettingSpread& setting : all) {
    if (setting.variant->reference) continue;
    const bool is_refused = setting.heads == 0 && setting.refused > 0;
    ++(is_refused ? refused : others);
    if (is_refused && why.empty()) why = setting.variant->label + ": " + setting.refusal;
  }
  if (refused + others == 0) return {};
  if (others == 0) return "Every setting that was tried was refused. " + why + ".";
  return "No setting that was tried has a finite " + error.measure().label + " on all heads.";
}

using Head = std::tuple<std::string, Index, Index>;

std::map<Head, double> errors_of(const std::vector<Trial>& trials, const SettingSpread& setting,
                                 const Quantity& error) {
  std::map<Head, double> errors;
  for (const Trial& trial : trials) {
    if (trial.repeats || trial.variant != setting.variant || trial.n != setting.n ||
        trial.values != setting.values || trial.seed != setting.seed)
      continue;
    if (const auto value = error.of(trial))
      errors[{trial.source, trial.layer, trial.head}] = *value;
  }
  return errors;
}

/// Whether both errors, head by head, have a ratio whose median may be 1.
bool may_be_equal(const std::vector<Trial>& trials, const SettingSpread& a, const SettingSpread& b,
                  const Quantity& error) {
  const auto of_a = errors_of(trials, a, error), of_b = errors_of(trials, b, error);
  std::vector<double> ratios;
  for (const auto& [head, value] : of_a)
    if (const auto other = of_b.find(head); other != of_b.end() && value > 0)
      ratios.push_back(other->second / value);
  std::ranges::sort(ratios);
  const auto interval = interval_of_median(ratios);
  return interval && interval->low <= 1 && 1 <= interval->high;
}

/// "0.37", "0.019", "2×10⁻⁴".
std::string amount_text(double value) {
  return format_drawn(value, 2);
}

std::string error_text(const SettingSpread& setting) {
  std::string text = amount_text(setting.y.median);
  if (setting.interval)
    text += " (" + amount_text(setting.interval->low) + " – " +
            amount_text(setting.interval->high) + ")";
  return text;
}

std::string point_text(const SettingSpread& setting) {
  return setting_name(setting) + ": " + error_text(setting) + " at " +
         format_share(setting.x.median);
}

std::string best_text(const Recommendation& in) {
  const SettingSpread& best = *in.best;
  const bool several = best.heads > 1, seeds = best.interval && !several;
  std::string text = setting_name(best) + (best.own ? " (on the canvas)" : "") + ": " +
                     (several || seeds ? "median " : "") + in.error.measure().label + " " +
                     amount_text(best.y.median);
  if (several || seeds)
    text += " over " + (several ? plural(best.heads, "head") : plural(best.seeds, "seed"));
  if (best.interval)
    text += " (95 % interval " + amount_text(best.interval->low) + " – " +
            amount_text(best.interval->high) + ")";
  text += " at " + format_share(best.x.median) + " of the cost of exact attention.";
  return text;
}

/// What a learned tree has not learned from says more about other inputs.
std::string learned_text(const SettingSpread& setting) {
  if (!learned_steps(*setting.variant, setting.values)) return {};
  if (setting.heads > 1) return " Its trees were learned on these heads.";
  const std::string begin = "tree learned";
  for (const std::string& note : setting.notes)
    if (note.starts_with(begin)) return " Its tree was learned" + note.substr(begin.size()) + ".";
  return {};
}

std::string next_text(const Recommendation& in) {
  const bool equal = in.next->y.median == in.best->y.median;
  std::string text = (equal ? " As good: " : " Next best: ") + point_text(*in.next) + ".";
  if (in.undecided && !equal)
    text += " The " + plural(in.best->heads, "head") + " do not tell which of the two is better.";
  return text;
}

std::string near_text(const Recommendation& in) {
  const std::string small = amount_text(*in.small_error);
  const std::string bound = in.error.more_is_better() ? " reaches " + small : " is within " + small;
  if (!in.near) return " Nothing that was tried and costs less than exact attention" + bound + ".";
  return " Nothing at " + format_share(in.at_most) + " or less" + bound +
         "; the cheapest that is: " + point_text(*in.near) + ".";
}

}  // namespace

bool Recommendation::best_is_near() const {
  if (!best || !small_error) return false;
  return error.more_is_better() ? best->y.median >= *small_error : best->y.median <= *small_error;
}

std::string setting_name(const SettingSpread& setting) {
  const std::string values = setting_text(*setting.variant, setting.values, setting.n);
  return setting.variant->label + (values.empty() ? "" : ", " + values);
}

Recommendation recommend(const std::vector<Trial>& trials, const Quantity& error, double at_most) {
  Recommendation out{.error = error,
                     .at_most = at_most,
                     .best = {},
                     .next = {},
                     .small_error = small_error_of(error),
                     .near = {},
                     .missing = {}};
  const auto all = settings_over_heads(trials, quantity_named(cost_id), error);
  std::vector<SettingSpread> settings = compared(all);
  if (settings.empty()) {
    out.missing = why_nothing_can_be_compared(all, error);
    return out;
  }
  std::set<const Variant*> variants;
  for (const SettingSpread& setting : settings) variants.insert(setting.variant);
  out.settings = std::ssize(settings);
  out.variants = std::ssize(variants);
  std::ranges::stable_sort(settings, {}, [&](const SettingSpread& s) {
    return std::pair(badness(error, s), s.x.median);
  });
  for (const SettingSpread& setting : settings) {
    if (!(setting.x.median <= at_most)) continue;
    if (!out.best)
      out.best = setting;
    else if (!out.next && setting.variant != out.best->variant)
      out.next = setting;
  }
  if (out.next) out.undecided = may_be_equal(trials, *out.best, *out.next, error);
  std::ranges::stable_sort(settings, {}, [](const SettingSpread& s) { return s.x.median; });
  if (!out.best) {
    out.missing = "Nothing that was tried costs at most " + format_share(at_most) +
                  " of exact attention. The cheapest: " + point_text(settings.front()) + ".";
    return out;
  }
  for (const SettingSpread& setting : settings) {
    if (out.near || !out.small_error || setting.x.median >= 1) break;
    const double limit = error.more_is_better() ? -*out.small_error : *out.small_error;
    if (badness(error, setting) <= limit) out.near = setting;
  }
  return out;
}

std::string to_text(const Recommendation& in) {
  if (!in.best) return in.missing;
  std::string text = best_text(in) + learned_text(*in.best);
  if (in.next) text += next_text(in);
  if (in.small_error && !in.best_is_near()) text += near_text(in);
  if (in.best_is_near() && in.near && in.near->x.median < in.best->x.median)
    text += " The cheapest that is as near as " + amount_text(*in.small_error) + ": " +
            point_text(*in.near) + ".";
  if (in.at_most >= 1) text += " Exact attention itself fits this budget.";
  return text + " Compared: " + plural(in.settings, "setting") + " of " +
         plural(in.variants, "variant") + ".";
}

}  // namespace fovea
