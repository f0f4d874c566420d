// Singular values of a block, without vectors, interruptible.
#pragma once

#include <stop_token>
#include <vector>

#include "data/matrix.h"

namespace fovea {

/// Blocks up to this side are decomposed by bidiagonalisation in double: absolute error about
/// 1e-16 of the largest value. Larger ones through the eigenvalues of the Gram matrix in double:
/// about 1e-8 of the largest value, below what float32 entries carry.
inline constexpr Index direct_side = 128;

/// Descending, min(rows, cols) of them. `entries` is row-major. Throws Cancelled soon after a stop
/// is requested.
std::vector<double> singular_values(const double* entries, Index rows, Index cols,
                                    std::stop_token stop = {});

}  // namespace fovea
