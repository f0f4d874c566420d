// HyperAttention as its paper's theory has it: algorithm 2 for the row sums, algorithm 3 for the
// values.
#pragma once

#include "variants/sampled_blocks.h"

namespace fovea {

struct HyperTheory {
  SampledBlocks sizes;
  double epsilon = 1, kappa = 1;
};

/// Plans Z = D^-1 A S S^T V without a causal mask, block < n: D as estimate_row_sums has it, from
/// `samples` keys and as many rows (or all); S by as many draws with replacement, of key j with
/// probability p_j = |v_j|^2 / |V|_F^2, or 1/n where V = 0. So P_ij = c_j / (m p_j) A_ij / d_i, c_j
/// being how often key j was drawn. Throws InputError for a given structure that is not valid.
void plan_hyper_theory(const Problem& problem, const HyperTheory& theory, Planning& planning,
                       Plan& plan);

/// The tensors of such a plan beside those of sampled_blocks_tensors.
std::vector<TensorField> hyper_theory_tensors();

}  // namespace fovea
