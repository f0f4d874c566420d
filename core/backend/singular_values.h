// Singular values of a block, without vectors, interruptible.
#pragma once

#include <stop_token>
#include <vector>

#include "data/matrix.h"

namespace fovea {

/// Blocks up to this side are decomposed by bidiagonalisation in double: absolute error about
/// 1e-16 of the largest value. Larger ones through the eigenvalues of the Gram matrix in double,
/// six times as fast: about 1e-8 of the largest value, below what float32 entries carry.
inline constexpr Index direct_side = 32;

/// Larger blocks of low rank are cut off once what is left has at most this share of |A|_F, three
/// times what rounding entries to float32 leaves of any rank. The values cut off are given as equal
/// ones: no single one is right, but their sum is a bound on the true sum (Cauchy-Schwarz), so that
/// no rank is under-estimated. Squares of the others are within (share |A|_F)^2.
inline constexpr double negligible_share = 1e-7;

struct SingularValueList {
  std::vector<double> values;  // descending, min(rows, cols) of them; NaN if an entry is not finite
  Index resolved = 0;          // the first so many; those after are cut off and equal: a bound
};

/// `entries` is row-major. Throws Cancelled soon after a stop is requested.
SingularValueList singular_values(const double* entries, Index rows, Index cols,
                                  std::stop_token stop = {});
SingularValueList singular_values(MatrixView block, std::stop_token stop = {});

/// What the values of a block cost, relative to those of others.
inline double decomposition_effort(Index rows, Index cols) {
  return static_cast<double>(rows) * static_cast<double>(cols) *
         static_cast<double>(std::min(rows, cols));
}

}  // namespace fovea
