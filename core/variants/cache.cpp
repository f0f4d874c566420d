#include "variants/cache.h"

#include <algorithm>
#include <numeric>

#include "data/blocks.h"
#include "data/error.h"
#include "data/memory.h"
#include "variants/dot_products.h"
#include "variants/mask_tiles.h"

namespace fovea {
namespace {

constexpr const char* evicted_name = "evicted";

/// The keys that leave before each query, [n + 1].
std::vector<std::vector<std::int32_t>> keys_that_leave(const Evictions& evicted) {
  std::vector<std::vector<std::int32_t>> leave(evicted.size() + 1);
  for (std::size_t j = 0; j < evicted.size(); ++j)
    leave[static_cast<std::size_t>(evicted[j])].push_back(static_cast<std::int32_t>(j));
  return leave;
}

/// Each thread sets whole rows, so that no two threads write the same word. A query attends itself
/// and what the query before it attends, without the keys that leave.
std::shared_ptr<const PairMask> held_pairs(const Problem& problem, const Evictions& evicted,
                                           Planning& planning) {
  constexpr Index strip = 64;
  const Index n = problem.n();
  const auto leave = keys_that_leave(evicted);
  BitMatrix pairs(n, n);
  planning.backend.share_out(number_of_blocks(n, strip), planning.run, [&](Index turn) {
    const IndexRange rows{turn * strip, std::min(n, (turn + 1) * strip)};
    for (Index j = 0; j < rows.begin; ++j)
      if (evicted[static_cast<std::size_t>(j)] > rows.begin) pairs.set(rows.begin, j);
    for (Index i = rows.begin; i < rows.end; ++i) {
      if (i > rows.begin) {
        pairs.copy_row(i - 1, i);
        for (const std::int32_t j : leave[static_cast<std::size_t>(i)]) pairs.clear(i, j);
      }
      pairs.set(i, i);
    }
    for (Index i = rows.begin; problem.mask && i < rows.end; ++i)
      for (Index j = 0; j <= i; ++j)
        if (!problem.mask->admits(i, j)) pairs.clear(i, j);
  });
  return std::make_shared<const PairMask>(std::vector<std::int32_t>(), std::vector<std::int32_t>(),
                                          std::move(pairs));
}

}  // namespace

Evictions given_evictions(const Planning& planning, Index n) {
  Evictions given = planning.integers(evicted_name, {"n"});
  for (Index j = 0; j < std::ssize(given); ++j)
    if (const std::int32_t query = given[static_cast<std::size_t>(j)]; query <= j || query > n)
      throw InputError(evicted_name, std::to_string(query) + " for key " + std::to_string(j) +
                                         "; expected a query after the key, or n");
  return given;
}

Evictions evicted_after_prompt(Index n, Index prompt, IndexRange judged,
                               const std::vector<double>& score, Index count) {
  Evictions evicted(static_cast<std::size_t>(n), static_cast<std::int32_t>(n));
  std::vector<std::int32_t> kept(score.size());
  std::iota(kept.begin(), kept.end(), 0);
  keep_largest(kept, score.data(), std::max<Index>(0, count));
  for (Index j = 0; j < judged.size(); ++j)
    if (!std::ranges::binary_search(kept, static_cast<std::int32_t>(j)))
      evicted[static_cast<std::size_t>(judged.begin + j)] = static_cast<std::int32_t>(prompt);
  return evicted;
}

Plan plan_of_cache(const Problem& problem, Evictions evicted, Planning& planning) {
  const Index n = problem.n();
  Plan plan{.lengths = problem.lengths(), .causal = true, .form = TilePlan{}};
  auto& passes = std::get<TilePlan>(plan.form).passes;
  if (std::ranges::all_of(evicted, [n](std::int32_t query) { return query == n; })) {
    plan.notes.push_back("no key is evicted: computed exactly");
    passes.push_back({.tiles = {{{0, n}, {0, n}, Band{.lo = 0}}}});
  } else {
    require_memory(static_cast<double>(n) * static_cast<double>(n) / 8,
                   "a bit for each pair of " + problem.lengths().text(), fewer_tokens);
    planning.run.check();
    plan.mask = held_pairs(problem, evicted, planning);
    plan.head_mask = problem.mask;
    passes.push_back(tiles_of_mask(plan.mask->pairs(), Band{.lo = 0}, planning));
  }
  plan.structure.set(evicted_name, std::move(evicted));
  return plan;
}

std::vector<TensorField> cache_tensors() {
  return {{.name = evicted_name,
           .shapes = {{"n"}},
           .meaning = "The first query that no longer attends each key; n if the cache holds it to "
                      "the end."}};
}

}  // namespace fovea
