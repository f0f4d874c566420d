// Effects and policies as JSON.
//
// A policy file is an object with "policy": 1, the version; "layers" and "heads", of a layer, of
// the model that it is for; "parts", each {"variant", "parameters", "seed", "where"}, with "where"
// as ChosenHeads reads it; and what was measured, which is not read back. Parameters that suit the
// length of each of several inputs are left out.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "effect/layer_curve.h"
#include "effect/policy_search.h"
#include "report/json_output.h"

namespace fovea {

/// What a model does not have is null. Over several inputs each number X has "X_interval" and
/// "X_inputs", and "inputs" has the values of each input, or why it has none.
Document effect_json(const ModelEffect& effect, std::span<const ReplacedPart> parts,
                     const std::string& source);

Document unit_effects_json(const HeadEffects& effects);

Document curve_json(const std::vector<LayerPoint>& points);

/// The cost and the change of each policy that was measured.
Document trials_json(const PolicySearch& search);

/// The policy file of a policy, found within `budget` if that has a number, for a model of `layers`
/// layers of `heads` heads.
Document policy_json(const MeasuredPolicy& policy, Index layers, Index heads,
                     const PolicyBudget& budget, const std::string& source);

/// The parts of a policy file for a model of `layers` layers of `heads` heads. Throws InputError
/// for a file that is no policy, and for a policy of a model of another size, with what was found
/// and expected.
std::vector<ReplacedPart> read_policy(const std::string& path, Index layers, Index heads);

}  // namespace fovea
