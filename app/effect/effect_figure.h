// What was measured of a model, as a figure: curves over layers, and grids of heads and layers.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "effect/layer_curve.h"
#include "effect/policy_search.h"
#include "figure/figure.h"

namespace fovea {

/// What is null is left out. All of it outlives this.
struct EffectInFigure {
  const ModelEffect& effect;
  std::span<const ReplacedPart> parts;
  Index layers = 0, heads = 0;  // of the model; heads of a layer
  const std::vector<LayerPoint>* curve = nullptr;
  std::string curve_title = {};
  const PolicySearch* search = nullptr;
  const HeadEffects* alone = nullptr;
};

Figure effect_figure(const EffectInFigure& shown);

}  // namespace fovea
