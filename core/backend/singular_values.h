// Singular values of a block, without singular vectors; can be cancelled.
#pragma once

#include <stop_token>
#include <vector>

#include "data/matrix.h"

namespace fovea {

/// Blocks up to this side are decomposed by bidiagonalisation in double: absolute error about
/// 1e-14 of the largest value. Larger ones are decomposed through the eigenvalues of the Gram
/// matrix in double, which is faster: about 1e-8 of the largest value, less than the rounding of
/// float32.
inline constexpr Index direct_side = 32;

/// The decomposition of larger blocks of low rank ends when the rest has at most this share of
/// |A|_F, three times the rounding of the entries to float32. The values of the rest are given as
/// equal ones: none of them is right, but their sum is a bound on the true sum (Cauchy-Schwarz), so
/// that no rank is under-estimated. Squares of the other values are within (share |A|_F)^2.
inline constexpr double negligible_share = 1e-7;

struct SingularValueList {
  std::vector<double> values;  // descending, min(rows, cols) of them; NaN if an entry is not finite
  Index resolved = 0;          // number of exact values; the rest repeat one upper bound
};

/// `entries` is row-major. Throws Cancelled soon after a stop is requested.
SingularValueList singular_values(const double* entries, Index rows, Index cols,
                                  std::stop_token stop = {});
SingularValueList singular_values(MatrixView block, std::stop_token stop = {});

/// The cost of the values of a block, relative to other blocks.
inline double decomposition_effort(Index rows, Index cols) {
  return static_cast<double>(rows) * static_cast<double>(cols) *
         static_cast<double>(std::min(rows, cols));
}

}  // namespace fovea
