#include "panels/variant_card.h"

#include <algorithm>
#include <cmath>

#include "session/session.h"
#include "sweep/sweep.h"

namespace fovea {

VariantCard make_variant_card(const Variant& variant, const Problem& head, const Backend& backend,
                              Run& run) {
  VariantCard card{.variant = &variant, .picture = {}, .refused = {}};
  const Index n = std::min(head.n(), VariantCard::most_tokens);
  const Problem first = prefix_of(head, n);
  try {
    const Computation prepared = prepare(
        first, {.variant = &variant, .values = values_for_length(variant, n)}, backend, run);
    const Index side = std::min(n, VariantCard::side);
    card.picture = prepared.op->tile({0, n}, {0, n}, {Pool::Kind::max, side, side}, run);
    for (Index r = 0; r < side; ++r)
      for (Index c = 0; c < side; ++c) card.picture(r, c) = std::abs(card.picture(r, c));
  } catch (const UsageError& error) {
    card.refused = error.what();
  }
  return card;
}

}  // namespace fovea
