#include "panels/variant_card.h"

#include <algorithm>
#include <cmath>

#include "session/session.h"

namespace fovea {

VariantCard make_variant_card(const Variant& variant, const Problem& head, const Backend& backend,
                              Run& run) {
  VariantCard card{.variant = &variant, .picture = {}, .refused = {}};
  const Lengths all = head.lengths();
  const Index n = std::min(all.keys, VariantCard::most_tokens);
  if (!all.equal() && std::max(all.queries, all.keys) > VariantCard::most_tokens) {
    // The first queries may have no keys among the first keys.
    card.refused = variant.refusal(head);
    return card;
  }
  const Problem first = all.equal() ? prefix_of(head, n) : head;
  try {
    const Computation prepared = prepare(
        first, {.variant = &variant, .values = values_for_length(variant, n)}, backend, run);
    const Index down = std::min(first.queries(), VariantCard::side),
                across = std::min(first.keys(), VariantCard::side);
    card.picture = prepared.op->tile({0, first.queries()}, {0, first.keys()},
                                     {Pool::Kind::max, down, across}, run);
    for (Index r = 0; r < down; ++r)
      for (Index c = 0; c < across; ++c) card.picture(r, c) = std::abs(card.picture(r, c));
  } catch (const UsageError& error) {
    card.refused = error.what();
  }
  return card;
}

}  // namespace fovea
