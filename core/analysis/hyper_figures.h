// The figures of HyperAttention's own analysis: alpha, kappa, stable rank, block mass, spectral
// error.
#pragma once

#include <vector>

#include "analysis/diagnostics.h"

namespace fovea {

/// Whether the plan sorts tokens into blocks and samples the rest.
bool is_hyper(const Plan& plan);

/// Of exact P: alpha = n max_j sum_i P_ij^2, kappa = max_i / min_i <1 - M_i, A_i> with M the blocks
/// (passes without weights), stable rank |P|_F^2 / |P|_op^2, mean mass on M. Of the approximation:
/// mean relative error of the row sums, and the epsilon that solves the paper's Eq. 1. Where P has
/// more than `max_entries` entries rows are sampled; figures that need |P|_op are then left out.
std::vector<Diagnostic> hyper_figures(const Operator& approximate, const Output& approximate_output,
                                      const Operator& exact, const Output& exact_output, Run& run,
                                      double max_entries = 6.7e7);

}  // namespace fovea
