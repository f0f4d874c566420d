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
  /// The mean key m is subtracted before the keys are rounded. All logits of a query q then get
  /// s q . m back, with q as it was before it was rounded.
  bool smooth_k = false;
  std::optional<WeightRounding> weights = {};
};

/// Sets `rounded` and `planning_bytes` of the plan. Throws UnavailableError if the copies do not
/// fit into memory, and Cancelled.
void round_head(Plan& plan, const Problem& problem, const HeadRounding& rule, Planning& planning);

}  // namespace fovea
