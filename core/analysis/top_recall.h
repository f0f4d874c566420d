// The top recall of a row is the share of a query's k largest keys that are also its k largest keys
// in an approximation.
#pragma once

#include <span>

#include "backend/operator.h"

namespace fovea {

/// top_k of a row of n weights: the k keys with the largest positive weights, the lower key first
/// among equal weights; all positive ones if there are fewer than k. Masked keys have weight 0, so
/// they are never in it.
///
/// |top_k(P_i) ∩ top_k(P~_i)| / k for each of top_counts, with k the number of positive weights of
/// P_i if that is smaller. In [0, 1]; NaN if no weight of P_i is positive.
TopRecall top_recall(std::span<const float> approximate, std::span<const float> exact);

}  // namespace fovea
