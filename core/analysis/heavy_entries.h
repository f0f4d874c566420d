// Heavy entries are those of Q K^T whose squares are a large part of their column's: the mask of
// HyperAttention's Corollary 2.
#pragma once

#include "backend/profile.h"
#include "data/problem.h"

namespace fovea {

/// [nq, nk] the pairs that the head admits with (QK^T)_ij^2 >= |QK^T e_j|^2 / tau, without scale
/// and rule: at most tau of a column. A column of zeros has none. In double, O(nq nk d) on one
/// thread. Throws Cancelled.
BitMatrix heavy_entries(const Problem& problem, double tau, const Run& run);

}  // namespace fovea
