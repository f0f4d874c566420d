// The top recall of a row is the share of the keys that matter most to a query which matter most to
// it in an approximation too.
#pragma once

#include <span>

#include "backend/operator.h"

namespace fovea {

/// top_k of a row of n weights: the k keys of the largest positive weights, the lower key first
/// among equal weights; all positive ones where they are fewer. Masked keys have weight 0, so they
/// are never in it.
///
/// |top_k(P_i) ∩ top_k(P~_i)| / k for each of top_counts, with k the number of positive weights of
/// P_i where that is smaller. In [0, 1]; NaN where no weight of P_i is positive.
TopRecall top_recall(std::span<const float> approximate, std::span<const float> exact);

}  // namespace fovea
