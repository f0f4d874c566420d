// A Trial is one setting of a variant on one head, measured. This file finds what Trials say about
// error against cost: the Pareto front, settings over many heads, and the best choice under a
// budget.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/measures.h"
#include "analysis/median_interval.h"
#include "evaluate/timed_runs.h"

namespace fovea {

struct Trial {
  const Variant* variant = nullptr;
  Values values;
  std::uint64_t seed = 0;
  /// The seed of an earlier trial that has the same values and another seed.
  std::optional<std::uint64_t> repeats = {};
  bool own = false;         // a setting of the user's own, such as a column of the canvas
  std::string source = {};  // of the head, if there are several
  Index layer = 0, head = 0, n = 0;
  double scale = 0;  // 0 if exact attention could not be computed
  bool causal = false;
  Cost cost;
  std::vector<std::optional<Measured>>
      measured;                      // in the order of measures(); empty if it was refused
  std::optional<MeasuredTime> time;  // where it was measured
  /// What replacing attention by it changes in the model's own output, and in which heads, as
  /// ChosenHeads reads them. Only trials of models have these.
  std::optional<double> model_change = {};
  bool of_loss = false;  // it is the growth of the loss, not of the last hidden states
  std::string replaced = {};
  std::vector<std::string> notes;  // the planner's
  std::string refused;             // why it was refused; empty if it was measured
};

/// Measures a trial by `work`. If the work fails for this setting alone, or for want of memory, the
/// trial is refused with the reason and keeps no measures. Throws Cancelled and DeviceLostError.
void measure_or_refuse(Trial& trial, const std::function<void()>& work);

/// What replaced attention changes in a model's own output: "loss", of models that predict the next
/// token, and "hidden", of others. Trials of models have one of them.
const std::vector<Measure>& model_measures();

/// A Quantity compares Trials: a Measure, or a chosen parameter.
class Quantity {
 public:
  /// The id of a measure; "time" is total_ms. Throws UsageError that names the known ids and begins
  /// with `option`.
  Quantity(const std::string& id, const std::string& option);

  /// A parameter of all `variants` but exact attention, which has none; neither more nor less of it
  /// is better. Throws UsageError that begins with `option` if a variant does not have the
  /// parameter, if its values are not single numbers, or if there is no variant.
  Quantity(const std::string& parameter, const std::vector<const Variant*>& variants,
           const std::string& option);

  /// One of model_measures(). Throws as the first one.
  static Quantity of_model(const std::string& id);

  const Measure& measure() const { return own_ ? *own_ : measures()[place_]; }
  bool is_parameter() const { return kind_ == Kind::parameter; }
  bool is_of_model() const { return kind_ == Kind::of_model; }
  bool more_is_better() const { return measure().better == Measure::Better::more; }
  /// Only trials that were timed have it.
  bool is_timed() const;
  /// Nothing if the trial does not have it; never NaN.
  std::optional<double> of(const Trial& trial) const;

 private:
  enum class Kind { measure, parameter, of_model };

  explicit Quantity(const Measure& of_model) : kind_(Kind::of_model), own_(of_model) {}

  Kind kind_ = Kind::measure;
  std::size_t place_ = 0;       // in measures()
  std::optional<Measure> own_;  // in place of one of them
};

struct ParetoPoint {
  std::optional<double> x, y;  // of both less is better
};

/// The points that no other point dominates, which would be at most as large in both numbers and
/// smaller in one. In ascending order of x, then y, then place; equal points are on the front
/// together. Points with a number that is absent or not finite are never on it and dominate
/// nothing. O(n log n).
std::vector<std::size_t> pareto_front(const std::vector<ParetoPoint>& points);

/// Quantiles of a number over several heads, with straight lines between the ordered numbers. A
/// quantile that lies between a finite number and infinity is infinite.
struct Spread {
  double median = 0, p10 = 0, p90 = 0;
};
/// `values` are not empty and not NaN.
Spread spread_of(std::vector<double> values);

/// One setting of a variant, over the heads that it was measured on.
struct SettingSpread {
  const Variant* variant = nullptr;
  Values values;
  std::uint64_t seed = 0;
  bool own = false;  // of the user's own
  Index n = 0;       // the length: equal values at another length are another setting
  Spread x, y;       // of the heads, or seeds, that have both numbers
  /// That of the median of y, over several heads or over several seeds on one. Nothing if there are
  /// fewer than enough_samples of them or if seeds make no difference.
  std::optional<MedianInterval> interval = {};
  Index heads = 0;            // that have both numbers
  Index seeds = 1;            // with which it was tried on the only head
  Index without = 0;          // that were measured and lack one of them
  Index refused = 0;          // for which the setting was refused
  bool few_runs = false;      // x or y is a time, of fewer than enough_samples runs on some head
  bool slow = false;          // x or y is a time, measured while the machine was slowed down
  std::string refusal = {};   // why, for the first of those heads
  bool on_all_heads = false;  // of this length, as the setting with the most heads
  bool on_front = false;      // of the medians of the settings that are on all heads; no bound is
  std::vector<std::string> notes = {};  // the planner's, if there is one head
};

/// In the order in which settings first appear. Each length has a front of its own, made of the
/// settings that were measured on the same heads as the setting measured on the most heads. There
/// is no front over a parameter.
std::vector<SettingSpread> settings_over_heads(const std::vector<Trial>& trials, const Quantity& x,
                                               const Quantity& y);

/// What the interval of a setting is over, "12 heads" or "6 seeds"; or why there is none: "no
/// interval: one head, and no random choices".
std::string interval_text(const SettingSpread& setting, const Quantity& y);

/// The quantity of an id, of measures() or of model_measures(). Throws UsageError.
const Quantity& quantity_named(const std::string& id);

/// Limits one measure, and asks for as little as possible of another.
struct Budget {
  std::string measure;  // an id
  double most = 0;
  std::string least;  // an id
};

/// The trial of one head that keeps the budget with the least of the other measure; among equals
/// the one with less of the limited measure, then the first. Exact attention is a choice like
/// others if it is among the trials. Null if no trial keeps the budget.
const Trial* best_choice(const std::vector<const Trial*>& trials, const Budget& budget);

}  // namespace fovea
