#include "effect/policy_search.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "data/number_text.h"

namespace fovea {
namespace {

constexpr std::size_t most_later = 8;  // moves that are tried beyond the first that did not fit

double saved_by(const UnitEffect& unit) {
  return static_cast<double>(unit.size) * (1 - unit.cost);
}

}  // namespace

void PolicySearch::step(EffectMeter& meter, Run& run) {
  if (complete_) return;
  if (!effects_.complete()) return effects_.step(meter, run);
  if (!ordered_) {
    order_moves();
    return plan_next();
  }
  std::vector<ReplacedPart> parts = parts_after(*next_);
  ModelEffect effect = meter.measure(parts, run);
  const bool fit = fits(effect);
  add_trial({std::move(parts), std::move(effect)});
  if (budget_.cost) {
    // What was counted for heads alone may be a little less than in the disturbed model.
    complete_ = fit || ++fit_ > moves_.size();
  } else if (unfit_ - fit_ > 1) {
    (fit ? fit_ : unfit_) = next_->size();
    if (fit) taken_ = *next_;
  } else {
    if (fit) taken_ = *next_;
    ++later_;
  }
  if (!complete_) plan_next();
}

void PolicySearch::order_moves() {
  ordered_ = true;
  const std::vector<UnitEffect>& found = effects_.found();
  for (std::size_t i = 0; i < found.size(); ++i)
    if (saved_by(found[i]) > 0 && std::isfinite(found[i].change)) moves_.push_back(i);
  std::ranges::stable_sort(moves_, {},
                           [&](std::size_t i) { return found[i].change / saved_by(found[i]); });
  unfit_ = moves_.size() + 1;
  if (!budget_.cost) return;
  while (fit_ < moves_.size() && cost_after(first(fit_)) > *budget_.cost) ++fit_;
}

void PolicySearch::plan_next() {
  next_.reset();
  if (budget_.cost) {
    next_ = first(fit_);
    complete_ = moves_.empty();
    return;
  }
  if (unfit_ - fit_ > 1) {
    next_ = first(fit_ + (unfit_ - fit_) / 2);
    return;
  }
  // The first `fit_` moves fit, one more does not: those after it may.
  const double cost = cost_after(taken_);
  for (; later_ < most_later && unfit_ + later_ < moves_.size(); ++later_) {
    Moves more = taken_;
    more.push_back(moves_[unfit_ + later_]);
    if (cost_after(more) >= cost) continue;
    next_ = std::move(more);
    return;
  }
  complete_ = true;
}

std::vector<ReplacedPart> PolicySearch::parts_after(const Moves& moves) const {
  const std::vector<UnitEffect>& found = effects_.found();
  std::map<std::string, std::size_t> by_unit;  // its cheapest move
  for (const std::size_t move : moves) {
    const auto [at, is_new] = by_unit.try_emplace(found[move].heads, move);
    if (!is_new && found[move].cost < found[at->second].cost) at->second = move;
  }
  std::vector<ReplacedPart> parts = effects_.candidates();
  for (ReplacedPart& part : parts) part.heads.clear();
  for (const auto& [heads, move] : by_unit) {
    std::string& list = parts[found[move].variant].heads;
    list += (list.empty() ? "" : ",") + heads;
  }
  std::erase_if(parts, [](const ReplacedPart& part) { return part.heads.empty(); });
  for (ReplacedPart& part : parts)
    part.heads = ChosenHeads(part.heads, effects_.layers(), effects_.heads()).text();
  return parts;
}

double PolicySearch::cost_after(const Moves& moves) const {
  const std::vector<UnitEffect>& found = effects_.found();
  std::map<std::string, double> saved;
  for (const std::size_t move : moves) {
    double& most = saved[found[move].heads];
    most = std::max(most, saved_by(found[move]));
  }
  double sum = 0;
  for (const auto& [heads, of_unit] : saved) sum += of_unit;
  return 1 - sum / static_cast<double>(effects_.layers() * effects_.heads());
}

bool PolicySearch::fits(const ModelEffect& effect) const {
  return budget_.cost ? effect.attention_cost() <= *budget_.cost
                      : effect.change() <= *budget_.change;
}

void PolicySearch::add_trial(MeasuredPolicy trial) {
  const MeasuredPolicy* known = best();
  const bool better = fits(trial.effect) &&
                      (!known || trial.effect.attention_cost() < known->effect.attention_cost());
  if (!better) {
    trial.effect = trial.effect.numbers();
  } else {
    if (known) trials_[*best_].effect = known->effect.numbers();
    best_ = trials_.size();
  }
  trials_.push_back(std::move(trial));
}

std::string PolicySearch::doing() const {
  if (!effects_.complete())
    return std::to_string(effects_.found().size()) + " of " +
           plural(effects_.count(), "single replacement") + " measured";
  return "measuring policy " + std::to_string(trials_.size() + 1);
}

}  // namespace fovea
