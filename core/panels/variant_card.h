// A VariantCard is a small look at a variant, for choosing among many.
#pragma once

#include <string>

#include "data/problem.h"
#include "evaluate/computation.h"

namespace fovea {

struct VariantCard {
  /// A card shows the first tokens of a head, so that it takes no longer for a long head.
  static constexpr Index most_tokens = 256, side = 48;

  const Variant* variant = nullptr;
  Matrix picture;       // [side, side] or less: |P| of the first tokens, pooled by max
  std::string refused;  // why there is no picture: the variant has no form for this head
};

/// With the parameters that suit the first tokens of the head. Throws Cancelled.
VariantCard make_variant_card(const Variant& variant, const Problem& head, const Backend& backend,
                              Run& run);

}  // namespace fovea
