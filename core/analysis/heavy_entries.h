// Heavy entries are those of Q K^T whose squares are a large part of their column's: the mask of
// HyperAttention's Corollary 2.
#pragma once

#include "backend/profile.h"
#include "data/problem.h"

namespace fovea {

/// [nq, nk] the admitted pairs with (QK^T)_ij^2 >= |QK^T e_j|^2 / tau, without scale and rule: at
/// most tau in each column, none in a column of zeros. Computed in double, O(nq nk d), on one
/// thread. Throws Cancelled.
BitMatrix heavy_entries(const Problem& problem, double tau, const Run& run);

}  // namespace fovea
