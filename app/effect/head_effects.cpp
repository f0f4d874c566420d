#include "effect/head_effects.h"

#include <array>

namespace fovea {

HeadEffects::HeadEffects(std::vector<ReplacedPart> candidates, const ChosenHeads& chosen,
                         UnitKind units)
    : layers_(chosen.layers()), heads_(chosen.heads()), candidates_(std::move(candidates)) {
  for (Index layer = chosen.layers() - 1; layer >= 0; --layer) {
    ChosenHeads of_layer(chosen.layers(), chosen.heads());
    for (Index head = 0; head < chosen.heads(); ++head) {
      if (!chosen.has(layer, head)) continue;
      of_layer.choose(layer, head);
      if (units == UnitKind::layer) continue;
      ChosenHeads alone(chosen.layers(), chosen.heads());
      alone.choose(layer, head);
      units_.push_back({layer, head, std::move(alone)});
    }
    if (units == UnitKind::layer && of_layer.size() > 0)
      units_.push_back({layer, std::nullopt, std::move(of_layer)});
  }
}

void HeadEffects::step(EffectMeter& meter, Run& run) {
  if (complete()) return;
  const Unit& unit = units_[found_.size() / candidates_.size()];
  const std::size_t variant = found_.size() % candidates_.size();
  ReplacedPart part = candidates_[variant];
  part.heads = unit.heads.text();
  const ModelEffect effect = meter.measure_numbers(std::array{part}, run);
  found_.push_back({.variant = variant,
                    .layer = unit.layer,
                    .head = unit.head,
                    .heads = part.heads,
                    .change = effect.change(),
                    .change_half = change_over_inputs(effect).half,
                    .kl_mean = effect.kl_mean,
                    .drift = effect.drift.empty() ? Drift{} : effect.drift.back(),
                    .cost = effect.parts.front().cost,
                    .size = effect.parts.front().heads});
}

}  // namespace fovea
