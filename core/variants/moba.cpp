// MoBA, mixture of block attention: the own block, and those whose mean key is nearest to the
// query.
#include <algorithm>
#include <vector>

#include "analysis/selected_recall.h"
#include "variants/dot_products.h"
#include "variants/selected_blocks.h"

namespace fovea {
namespace {

struct MobaParameters {
  Index block = 512, blocks = 3;

  static std::vector<TypedField<MobaParameters>> fields() {
    using P = MobaParameters;
    auto block = size_field<P>("block", "Block l", "tokens", &P::block, 1, 131072,
                               "Keys per block: a query selects whole blocks.",
                               [](Index n) { return short_size(n, 512); });
    block.field.worth_trying = try_sizes(block.field, 1, 2);
    return {block, blocks_field(&P::blocks,
                                "Blocks that a query attends, its own included. With blocks >= n / "
                                "block the result is exact.")};
  }
};

Plan plan_moba(const Problem& problem, const MobaParameters& p, Planning& planning) {
  const Index d = problem.d();
  const Matrix means = block_means(problem.k, {problem.keys(), p.block});
  const auto score = [&](IndexRange queries, IndexRange blocks, double* scores) {
    dot_products(problem.q, queries, means, blocks, scores);
  };
  Plan plan = plan_selected_blocks(problem,
                                   {.size = p.block,
                                    .blocks = p.blocks,
                                    .score = score,
                                    .block_multiply_adds = static_cast<double>(d)},
                                   planning);
  if (plan.planning_multiply_adds > 0)
    plan.planning_multiply_adds += static_cast<double>(problem.keys() * d);
  return plan;
}

}  // namespace

Variant moba_variant() {
  return make_variant<MobaParameters>(
      {.id = "moba",
       .label = "MoBA",
       .paper = "Lu et al. 2025 (Mixture of Block Attention), section 2.2, Eq. 2-6",
       .formula = "Pᵢⱼ = exp(Sᵢⱼ) / Σ exp over Bᵢ,  Bᵢ: own block and those of the largest qᵢ·k̄, "
                  "k̄: its mean key",
       .summary = "The own block, and the blocks whose mean key is nearest to the query.",
       .mask = Mask::causal_in_paper,
       .unequal_lengths = UnequalLengths::all,
       .group = Group::selectors,
       .quick = true,
       .structure = selected_block_tensors("q.k of the mean key, not scaled"),
       .diagnostics = {selection_figures},
       .is_exact = blocks_hold_all},
      plan_moba);
}

}  // namespace fovea
