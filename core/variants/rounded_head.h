// Rounds the tensors of a head for plans of low precision.
#pragma once

#include <optional>

#include "variants/rounded_tensor.h"
#include "variants/variant.h"

namespace fovea {

/// Tensors without a rule keep their numbers.
struct HeadRounding {
  std::optional<RoundingRule> q = {};
  RoundingRule k = {};
  std::optional<RoundingRule> v = {};
  /// The mean key m is subtracted before the keys are rounded, and s q . m, which is found before
  /// q is rounded, is added to the logits of q: to all of them the same.
  bool smooth_k = false;
};

/// Sets what the plan computes with.
void round_head(Plan& plan, const Problem& problem, const HeadRounding& rule, Planning& planning);

}  // namespace fovea
