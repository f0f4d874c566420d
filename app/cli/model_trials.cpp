#include "cli/model_trials.h"

#include <algorithm>
#include <cmath>

#include "cli/options/variant_options.h"
#include "data/error.h"
#include "effect/model_effect.h"
#include "input/last_model.h"
#include "session/settings.h"

namespace fovea {
namespace {

/// Heads of the model that are replaced together.
struct Unit {
  const ExploredHead* first = nullptr;
  ChosenHeads heads;
};

void refuse_options_of_heads(const ExplorationOptions& options) {
  const HeadOptions& heads = options.heads;
  if (heads.conditions != HeadConditions() || heads.allow_non_finite)
    throw UsageError(
        "--y loss: the model says what its attention is; expected none of --causal, --no-causal, "
        "--scale, --window, --softcap and --allow-non-finite");
  if (options.learn->count() > 0 && options.explore.learned_steps > 0)
    throw UsageError(
        "--y loss: trees that --learn learns are of one head by itself; expected no --learn");
}

std::vector<Unit> units_of(const Exploration& exploration, ReplacedBy what,
                           const EffectMeter& meter) {
  std::vector<Unit> units;
  for (const ExploredHead& head : exploration.heads) {
    if (units.empty() || what == ReplacedBy::each_head)
      units.push_back({&head, ChosenHeads(meter.layers(), meter.heads())});
    units.back().heads.choose(head.layer, head.head);
  }
  return units;
}

void put_cost(Trial& trial, double multiply_adds, double exact) {
  trial.cost.multiply_adds = multiply_adds;
  trial.cost.exact_multiply_adds = exact;
  const Evaluation evaluation{.cost = &trial.cost};
  for (std::size_t m = 0; m < measures().size(); ++m)
    if (const std::string& id = measures()[m].id; id == "multiply_adds" || id == "ratio_to_exact")
      trial.measured[m] = measures()[m].of(evaluation);
}

class ModelTrials {
 public:
  ModelTrials(const ExplorationOptions& options, Exploration& out, EffectMeter& meter,
              const Console& console)
      : options_(options), out_(out), meter_(meter), console_(console) {}

  void try_all(const std::vector<Unit>& units, const std::vector<const Variant*>& variants) {
    TrialProgress progress(out_, console_);
    std::size_t all = 0;
    for (const Unit& unit : units)
      for (const Variant* variant : variants) all += settings_in(unit, *variant).size();
    std::size_t done = 0;
    for (const Unit& unit : units) {
      const std::size_t exact = out_.trials.size();
      out_.trials.push_back(trial_in(unit, reference_variant(), {}));
      out_.trials[exact].model_change = 0;
      for (const Variant* variant : variants)
        for (const Values& values : settings_in(unit, *variant)) {
          out_.trials.push_back(measured(unit, *variant, values));
          progress.done(++done, all);
        }
      const auto known = std::find_if(
          out_.trials.begin() + static_cast<std::ptrdiff_t>(exact) + 1, out_.trials.end(),
          [](const Trial& trial) { return trial.cost.exact_multiply_adds > 0; });
      if (known == out_.trials.end()) continue;
      out_.trials[exact].of_loss = known->of_loss;
      put_cost(out_.trials[exact], known->cost.exact_multiply_adds,
               known->cost.exact_multiply_adds);
    }
  }

 private:
  std::vector<Values> settings_in(const Unit& unit, const Variant& variant) const {
    if (variant.reference) return {};  // changes nothing
    return settings_worth_trying(variant, unit.first->lengths.keys, options_.explore.most_settings);
  }

  Trial trial_in(const Unit& unit, const Variant& variant, const Values& values) {
    const Problem problem =
        options_.heads.problem(out_.source, unit.first->layer, unit.first->head, console_.stop);
    Trial trial;
    trial.variant = &variant;
    trial.values = values;
    trial.seed = options_.explore.seed;
    trial.layer = unit.first->layer;
    trial.head = unit.first->head;
    trial.n = unit.first->lengths.keys;
    trial.scale = problem.scale;
    trial.causal = problem.is_causal();
    trial.replaced = unit.heads.text();
    trial.measured.resize(measures().size());
    return trial;
  }

  Trial measured(const Unit& unit, const Variant& variant, const Values& values) {
    Trial trial = trial_in(unit, variant, values);
    const ReplacedPart part = part_with(variant, values, trial.seed, trial.replaced);
    Profile profile;
    Run run{profile, console_.stop};
    measure_or_refuse(trial, [&] {
      const ModelEffect effect = meter_.measure(std::array{part}, run);
      const MeasuredPart& cost = effect.parts.front();
      put_cost(trial, cost.multiply_adds, cost.exact_multiply_adds);
      trial.model_change = effect.change();
      trial.of_loss = effect.predicts;
    });
    return trial;
  }

  const ExplorationOptions& options_;
  Exploration& out_;
  EffectMeter& meter_;
  const Console& console_;
};

}  // namespace

Exploration explore_model(const ExplorationOptions& options, ReplacedBy what,
                          const Console& console) {
  const std::vector<const Variant*> variants = variants_named(options.variants);
  const std::string address = options.source.address();
  if (!is_model_address(address))
    throw UsageError("--y loss: " + fovea::quoted(options.source.what) +
                     " is no model, whose output could change; expected a model with --text or "
                     "--input");
  refuse_options_of_heads(options);
  LastModel model;  // is read once
  ExplorationOptions with_model = options;
  with_model.source.open.last_model = &model;
  with_model.in_model = true;
  Exploration out = opened_source(with_model, variants, console);
  const auto backend = options.backend.make(console.err);
  out.backend = backend->id();
  out.device = backend->device();
  out.precision = backend->precision();
  OpenOptions open = with_model.source.open;
  open.stop = console.stop;
  open.backend = backend.get();
  const auto meter = effect_meter(address, open);
  ModelTrials(options, out, *meter, console).try_all(units_of(out, what, *meter), variants);
  const auto tried = [](const Trial& trial) { return !trial.variant->reference; };
  if (std::ranges::any_of(out.trials, tried) &&
      std::ranges::all_of(
          out.trials, [&](const Trial& trial) { return !tried(trial) || !trial.refused.empty(); }))
    throw UnavailableError(std::ranges::find_if(out.trials, tried)->refused);
  return out;
}

const Quantity& model_quantity(const Exploration& exploration) {
  const bool of_loss =
      std::ranges::any_of(exploration.trials, [](const Trial& trial) { return trial.of_loss; });
  return quantity_named(of_loss ? "loss" : "hidden");
}

}  // namespace fovea
