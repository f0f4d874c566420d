// The figures of HyperAttention's own analysis: alpha, kappa, stable rank, block mass, spectral
// error.
#pragma once

#include "analysis/diagnostics.h"

namespace fovea {

/// Of exact P: alpha = n max_j sum_i P_ij^2, kappa = max_i / min_i <1 - M_i, A_i> with M the blocks
/// (passes without weights), stable rank |P|_F^2 / |P|_op^2, mean mass on M. Of the approximation:
/// mean relative error of the row sums, and the epsilon that solves the paper's Eq. 1. Where P has
/// more than `max_entries` entries rows are sampled; figures that need |P|_op are then left out.
std::vector<Diagnostic> sampling_figures(const Diagnosis& of, Run& run, double max_entries = 6.7e7);

}  // namespace fovea
