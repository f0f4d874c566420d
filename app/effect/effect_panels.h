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

/// The loss per token, or the relative change of the last hidden states, against the number of
/// replaced layers.
Panel layer_curve_panel(const std::vector<LayerPoint>& points, const std::string& variant);

/// The change when each unit is replaced alone by one of the candidates: a row for each layer, a
/// column for each head. Heads that were not measured are not numbers.
Panel unit_effects_panel(const HeadEffects& effects, std::size_t candidate);

/// Which variant each head has: a row for each layer, a column for each head.
Panel parts_panel(std::span<const ReplacedPart> parts, Index layers, Index heads);

/// The measured policies: the change against the cost of attention.
Panel trials_panel(const PolicySearch& search);

}  // namespace fovea
