#include "variants/described_variant.h"

#include <algorithm>

namespace fovea {

std::size_t first_parameter(const Variant& variant, const Recurrence* recurrence) {
  if (!variant.has_recurrent_form || !recurrence) return 0;
  constexpr std::size_t gates = 2;  // the first parameters of these variants: beta and half_life
  const bool has_levels = std::ranges::find(variant.structure, "level_weights",
                                            &TensorField::name) != variant.structure.end();
  const bool has_more = has_levels ? recurrence->level_weights.empty() : !recurrence->erases;
  return has_more ? gates : variant.schema.size();
}

}  // namespace fovea
