// What `fovea effect` has measured, as text and as JSON.
#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "effect/layer_curve.h"
#include "effect/policy_search.h"
#include "report/json_output.h"

namespace fovea {

struct EffectOutcome {
  std::vector<ReplacedPart> parts;
  ModelEffect effect;
  std::optional<HeadEffects> alone;
  std::optional<LayerCurve> curve;
  std::optional<PolicySearch> search;  // `parts` are those of its best policy
};

void print_outcome(std::ostream& out, const EffectOutcome& outcome);

/// `source` is the address of the model and its input.
Document outcome_json(const EffectOutcome& outcome, const std::string& source);

}  // namespace fovea
