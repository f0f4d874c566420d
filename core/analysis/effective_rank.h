// The effective rank of P says along how many directions of the values its output varies (Roy and
// Vetterli, "The effective rank: a measure of effective dimensionality", EUSIPCO 2007).
#pragma once

#include <span>

#include "analysis/estimate.h"

namespace fovea {

/// exp(-Σ pᵢ ln pᵢ) with pᵢ = σᵢ / Σσ: from 1 to the number of values; 0 if all are 0. The values
/// are not negative; NaN if one of them is.
double effective_rank(std::span<const double> singular_values);

/// Up to this many queries or keys all singular values are found, in about a second and 60 MB. More
/// are estimated.
inline constexpr Index decomposed_side = 1536;

/// The effective rank of P, which is read in bands of rows. Larger matrices are never held: the
/// sums Σσ and Σσ ln σ, which are traces of functions of P^T P, are found by Lanczos quadrature
/// from random signs (Ubaru, Chen and Saad, SIAM J. Matrix Anal. Appl. 38, 2017), in 64 steps that
/// read P once each. The standard error holds the spread of 8 draws and what the last half of the
/// steps still changed, since many small singular values are found late. NaN if an entry of P is
/// not finite. Throws Cancelled.
Estimate effective_rank(Lengths lengths, const ReadRows& read, Run& run, std::uint64_t seed = 0,
                        Index most_decomposed = decomposed_side);

}  // namespace fovea
