// Block spread is the standard deviation of the fine logits inside the coarse blocks of a plan. A
// coarse entry is their geometric mean, so it misses about e^(spread^2 / 2) of the block's mass.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "analysis/diagnostics.h"
#include "analysis/estimate.h"

namespace fovea {

struct BlockSpread {
  int level = 0;
  Estimate deviation;    // root mean variance over the blocks
  bool sampled = false;  // not all logits of all blocks were used
};

/// One per key level > 0, ascending; a block is a pair of clusters. A level of up to `logits`
/// logits is used whole. For other levels blocks are drawn with replacement, and 32 tokens are
/// drawn of both sides of a block if a side is longer.
std::vector<BlockSpread> block_spread(const Plan& plan, const Problem& problem,
                                      std::stop_token stop = {}, Index logits = Index{1} << 21,
                                      std::uint64_t seed = 0);

/// The block spread as figures, one for each level of the approximation.
std::vector<Diagnostic> block_spread_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
