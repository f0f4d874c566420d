// Shared code of variants with a cache that evicts keys: each query attends the keys that the cache
// holds at its step.
#pragma once

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

/// Whether the budget, the first parameter, holds all n keys.
inline bool budget_holds_all(const Values& values, Index n) {
  return std::get<std::int64_t>(values[0]) >= n;
}

}  // namespace fovea
