// Shared code of variants with a cache that evicts keys: each query attends the keys that the cache
// holds at its step.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

#include "data/problem.h"
#include "variants/variant.h"

namespace fovea {

/// [n]: for each key, the first query that no longer attends the key; n if the cache never evicts
/// the key.
using Evictions = std::vector<std::int32_t>;

/// The tensor `evicted` of --structure, or empty. Throws InputError for a query that is not after
/// the key.
Evictions given_evictions(const Planning& planning, Index n);

/// The plan of a causal head whose keys are evicted, with the tensor `evicted`. Throws
/// UnavailableError if a bit for each pair does not fit into memory, Cancelled.
Plan plan_of_cache(const Problem& problem, Evictions evicted, Planning& planning);

/// The schema of the tensor `evicted`.
std::vector<TensorField> cache_tensors();

/// [n]: keys of the prompt that are not among the `count` of the largest scores leave at its end.
/// Those outside of `judged` stay; score[j] is that of key judged.begin + j.
Evictions evicted_after_prompt(Index n, Index prompt, IndexRange judged,
                               const std::vector<double>& score, Index count);

/// The budget of a cache that evicts at the end of a prompt, and the share of the tokens that are
/// the prompt.
template <class P>
TypedField<P> prompt_budget_field(Index P::*budget) {
  auto made = size_field<P>("budget", "Budget", "keys", budget, 1, 131072,
                            "Keys of the prompt that the cache keeps; those of later tokens stay, "
                            "too. With budget >= n the result is exact.",
                            [](Index n) { return short_size(n, 1024); });
  made.field.worth_trying = try_sizes(made.field, 2, 2);
  return made;
}
template <class P>
TypedField<P> prompt_field(double P::*prompt) {
  return real_field("prompt", "Prompt", "of all tokens", prompt, 0, 1, Axis::linear,
                    "Share of the tokens that are the prompt: its queries attend all keys before "
                    "them, and the cache evicts at its end.");
}
inline Index tokens_of_prompt(double share, Index n) {
  return static_cast<Index>(std::lround(share * static_cast<double>(n)));
}

/// Whether the budget, the first parameter, holds all n keys.
inline bool budget_holds_all(const Values& values, Index n) {
  return std::get<std::int64_t>(values[0]) >= n;
}

}  // namespace fovea
