// Attention sinks (Xiao et al. 2023, StreamingLLM, section 3): the first s keys, which every query
// attends beside those of its pattern. Models put much weight there that they need nowhere else.
#pragma once

#include <vector>

#include "plan/plan.h"
#include "variants/schema.h"

namespace fovea {

/// How many of the first keys every query attends; 0 by default, and 4 is worth trying.
template <class P>
TypedField<P> sinks_field(Index P::*member) {
  auto sinks = size_field<P>("sinks", "Sinks s", "tokens", member, 0, 131072,
                             "The first s keys, which every query attends, too. With sinks >= n "
                             "the result is exact.",
                             [](Index) { return Index{0}; });
  sinks.field.worth_trying = [](Index n) {
    constexpr std::int64_t papers = 4;  // section 3.2: more of them change little
    return n > 4 * papers ? std::vector<Value>{papers} : std::vector<Value>{};
  };
  return sinks;
}

/// Passes of single tokens over n queries and n keys, without the first `sinks` keys, and one more
/// pass in which every query attends these, under a causal mask those up to its own.
void add_sinks(std::vector<Pass>& passes, Index sinks, Index n, bool causal);

}  // namespace fovea
