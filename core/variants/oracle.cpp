// The oracle: the blocks of keys in which exact attention has the most mass. To know them takes all
// logits; no selection of as many blocks keeps more.
#include <numeric>
#include <vector>

#include "analysis/selected_recall.h"
#include "variants/dot_products.h"
#include "variants/selected_blocks.h"

namespace fovea {
namespace {

struct OracleParameters {
  Index block = 64, blocks = 16;

  static std::vector<TypedField<OracleParameters>> fields() {
    using P = OracleParameters;
    auto block = size_field<P>("block", "Block l", "tokens", &P::block, 1, 131072,
                               "Keys per block: a query selects whole blocks.",
                               [](Index n) { return short_size(n / 4, 64); });
    block.field.worth_trying = try_sizes(block.field, 1, 2);
    return {block,
            blocks_field(&P::blocks,
                         "Blocks that a query attends. With blocks >= n / block the result is "
                         "exact.")};
  }
};

Plan plan_oracle(const Problem& problem, const OracleParameters& p, Planning& planning) {
  const KeyBlocks all{problem.keys(), p.block};
  const auto score = [&](IndexRange queries, IndexRange blocks, double* scores) {
    const IndexRange keys = all.tokens(blocks);
    std::vector<double> weights(static_cast<std::size_t>(queries.size() * keys.size()));
    exact_weights(problem, queries, keys, weights.data());
    for (Index i = 0; i < queries.size(); ++i)
      for (Index b = blocks.begin; b < blocks.end; ++b) {
        const double* first = weights.data() + i * keys.size() + all.tokens(b).begin - keys.begin;
        *scores++ = std::accumulate(first, first + all.tokens(b).size(), 0.0);
      }
  };
  Plan plan = plan_selected_blocks(
      problem, {.size = p.block, .blocks = p.blocks, .own = false, .score = score}, planning);
  if (plan.structure.has("selected_blocks"))
    plan.notes.push_back(
        "The oracle is only a bound: exact attention finds its blocks, which the cost leaves out");
  return plan;
}

}  // namespace

Variant oracle_variant() {
  return make_variant<OracleParameters>(
      {.id = "oracle",
       .label = "Oracle",
       .paper = "no method: the bound of all that select blocks of keys",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Bᵢ,  Bᵢ: blocks of the largest Σ exp(Sᵢⱼ) over b",
       .summary =
           "The blocks of the largest true mass. No other choice of as many blocks keeps more.",
       .unequal_lengths = UnequalLengths::all,
       .any_keys = true,
       .group = Group::selectors,
       .bound = true,
       .structure = selected_block_tensors("their shares of the mass of exact attention"),
       .diagnostics = {selection_figures},
       .is_exact = blocks_hold_all},
      plan_oracle);
}

}  // namespace fovea
