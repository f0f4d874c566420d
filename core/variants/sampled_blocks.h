// What HyperAttention and KDEformer share: blocks of queries and keys that hash alike, and sampled
// keys for all the rest.
#pragma once

#include <span>
#include <vector>

#include "variants/halving.h"
#include "variants/variant.h"

namespace fovea {

struct SampledBlocks {
  Index block = 0;      // sorted queries and keys of a diagonal block
  Index samples = 0;    // keys drawn with replacement for each sub-problem
  int projections = 0;  // bits of the hash
};

/// Fills the passes and the structure of a plan: a block pass and a sample pass for each depth
/// (HyperAttention, algorithms 1 and 4). A column counts c_j / (m p_j), c_j being how often key j
/// was drawn. `probability`: [n] p_j > 0, of sum 1, for a single sub-problem of all keys. If it is
/// empty, p_j = 1 / |keys of the sub-problem|.
void plan_sampled_blocks(const Problem& problem, const SampledBlocks& sizes,
                         std::vector<std::vector<SubProblem>> depths,
                         std::span<const double> probability, Planning& planning, Plan& plan);

/// The tensors that such a plan holds.
std::vector<TensorField> sampled_blocks_tensors();

}  // namespace fovea
