// Block spread is the standard deviation of the fine logits inside the coarse blocks of a plan. A
// coarse entry is their geometric mean, so it misses about e^(spread^2 / 2) of the block's mass.
#pragma once

#include <cstdint>
#include <stop_token>
#include <vector>

#include "analysis/diagnostics.h"

namespace fovea {

struct BlockSpread {
  int level = 0;
  double deviation = 0;  // root mean variance over the sampled blocks
};

/// One per key level > 0, ascending; from up to `blocks` pairs of clusters of each.
std::vector<BlockSpread> block_spread(const Plan& plan, const Problem& problem,
                                      std::stop_token stop = {}, int blocks = 64,
                                      std::uint64_t seed = 0);

/// The same as figures, one for each level of the approximation.
std::vector<Diagnostic> block_spread_figures(const Diagnosis& of, Run& run);

}  // namespace fovea
