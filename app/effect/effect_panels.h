// Effects as panels, for the window and for figures.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "effect/layer_curve.h"
#include "effect/policy_search.h"
#include "panels/panel.h"

namespace fovea {

/// |H' - H| / |H| after each layer.
Panel drift_panel(const ModelEffect& effect);

/// By how much the loss per token, or the last hidden states, change with the number of replaced
/// layers.
Panel layer_curve_panel(const std::vector<LayerPoint>& points, const std::string& variant);

/// The change when each unit alone is replaced by one of the candidates, as a grid of heads and
/// layers. Cells that are not measured are empty.
Panel unit_effects_panel(const HeadEffects& effects, std::size_t candidate);

/// Which variant each head has, as a grid of heads and layers.
Panel parts_panel(std::span<const ReplacedPart> parts, Index layers, Index heads);

/// The measured policies: the change against the cost of attention.
Panel trials_panel(const PolicySearch& search);

}  // namespace fovea
