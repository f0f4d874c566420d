// MSA, MiniMax sparse attention: the own block, and those with the largest single product of the
// query. The paper's indexer has queries and keys of its own; a head alone has only its own ones,
// which serve here.
#include <algorithm>
#include <limits>

#include "analysis/selected_recall.h"
#include "variants/dot_products.h"
#include "variants/selected_blocks.h"

namespace fovea {
namespace {

struct MsaParameters {
  Index block = 128, blocks = 16;

  static std::vector<TypedField<MsaParameters>> fields() {
    using P = MsaParameters;
    auto block = size_field<P>("block", "Block l", "tokens", &P::block, 1, 131072,
                               "Keys per block: a query selects whole blocks.",
                               [](Index n) { return short_size(n / 4, 128); });
    block.field.worth_trying = try_sizes(block.field, 1, 2);
    return {block, blocks_field(&P::blocks,
                                "Blocks that a query attends, its own included. With blocks >= n / "
                                "block the result is exact.")};
  }
};

constexpr Index cached_keys = 512;
constexpr double no_product = -std::numeric_limits<double>::infinity();

double largest_admitted(const PairMask& mask, Index query, const double* values, IndexRange at) {
  double most = no_product;
  for (Index j = at.begin; j < at.end; ++j)
    if (mask.admits(query, j)) most = std::max(most, values[j]);
  return most;
}

Plan plan_msa(const Problem& problem, const MsaParameters& p, Planning& planning) {
  const KeyBlocks all{problem.keys(), p.block};
  DoubleKeys::require_room(problem.k);
  const DoubleKeys all_keys(problem.k);
  // The products of some keys at a time stay in a cache.
  const Index together = std::max<Index>(1, cached_keys / p.block);
  const auto score = [&](IndexRange queries, IndexRange blocks, double* scores) {
    std::vector<double> products;
    for (Index first = blocks.begin; first < blocks.end; first += together) {
      const IndexRange some{first, std::min(blocks.end, first + together)};
      const IndexRange keys = all.tokens(some);
      products.resize(static_cast<std::size_t>(queries.size() * keys.size()));
      all_keys.products(problem.q, queries, keys, products.data(), keys.size());
      for (Index i = queries.begin; i < queries.end; ++i) {
        const Index row = i - queries.begin;
        const double* its = products.data() + row * keys.size() - keys.begin;
        const IndexRange near = problem.band().keys(i);
        for (Index b = some.begin; b < some.end; ++b) {
          const IndexRange tokens = all.tokens(b).intersected(near);
          scores[row * blocks.size() + b - blocks.begin] =
              problem.mask ? largest_admitted(*problem.mask, i, its, tokens)
                           : largest_product(its + tokens.begin, tokens.size());
        }
      }
    }
  };
  return plan_selected_blocks(problem,
                              {.size = p.block,
                               .blocks = p.blocks,
                               .score = score,
                               .pair_multiply_adds = static_cast<double>(problem.d())},
                              planning);
}

}  // namespace

Variant msa_variant() {
  return make_variant<MsaParameters>(
      {.id = "msa",
       .label = "MSA",
       .paper = "MiniMax-M3 (MiniMax 2026; modular_minimax_m3_vl.py of transformers), with the "
                "head's own q and k as indexer",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Bᵢ,  Bᵢ: own block and those of the largest max "
                  "qᵢ·kⱼ over b",
       .summary = "The own block, and the blocks with the largest product of query and key.",
       .mask = Mask::causal_in_paper,
       .unequal_lengths = UnequalLengths::all,
       .group = Group::selectors,
       .structure = selected_block_tensors("the largest q.k of a key that the query may attend"),
       .diagnostics = {selection_figures},
       .is_exact = blocks_hold_all},
      plan_msa);
}

}  // namespace fovea
