// A PolicySearch looks for a policy: a variant for some heads of a model, exact attention for the
// others, such that the model's output changes by at most a budget, or attention costs at most a
// share of exact attention.
//
// First each unit is replaced alone by each candidate. Replacements are then taken in the order of
// change per cost saved, and whole forward passes decide how many: single effects do not add up.
#pragma once

#include <optional>
#include <vector>

#include "effect/head_effects.h"

namespace fovea {

/// One of the two.
struct PolicyBudget {
  std::optional<double> change;  // largest ModelEffect::change()
  std::optional<double> cost;    // largest ModelEffect::attention_cost(), in [0, 1]
};

/// A policy that was measured by a forward pass of its own.
struct MeasuredPolicy {
  std::vector<ReplacedPart> parts;
  ModelEffect effect;
};

class PolicySearch {
 public:
  PolicySearch(HeadEffects effects, PolicyBudget budget)
      : effects_(std::move(effects)), budget_(budget) {}

  bool complete() const { return complete_; }
  /// Measures once. Throws what measure() throws; then it can be called again.
  void step(EffectMeter& meter, Run& run);

  const HeadEffects& effects() const { return effects_; }
  const PolicyBudget& budget() const { return budget_; }
  /// All policies that were measured, in their order, without rows of tokens but of the best.
  const std::vector<MeasuredPolicy>& trials() const { return trials_; }
  /// The cheapest of them within the budget; null if there is none.
  const MeasuredPolicy* best() const { return best_ ? &trials_[*best_] : nullptr; }
  /// "12 of 54 heads measured", "policy 3".
  std::string doing() const;

 private:
  using Moves = std::vector<std::size_t>;  // in effects_.found()

  void order_moves();
  void plan_next();
  /// The parts after these moves: each unit has the cheapest of its moves.
  std::vector<ReplacedPart> parts_after(const Moves& moves) const;
  double cost_after(const Moves& moves) const;
  Moves first(std::size_t count) const {
    return {moves_.begin(), moves_.begin() + static_cast<std::ptrdiff_t>(count)};
  }
  bool fits(const ModelEffect& effect) const;
  void add_trial(MeasuredPolicy trial);

  HeadEffects effects_;
  PolicyBudget budget_;
  bool ordered_ = false;
  Moves moves_;                      // in the order in which they are taken
  Moves taken_;                      // within a budget of change
  std::size_t fit_ = 0, unfit_ = 0;  // numbers of first moves that are known to fit, and not to
  std::size_t later_ = 0;            // the next move beyond `unfit_` that is tried
  std::optional<Moves> next_;        // to be measured
  bool complete_ = false;
  std::vector<MeasuredPolicy> trials_;
  std::optional<std::size_t> best_;  // in trials_
};

}  // namespace fovea
