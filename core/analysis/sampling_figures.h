// The figures of HyperAttention's own analysis: alpha, kappa, stable rank, block mass, errors of
// row sums, of P and of Z.
#pragma once

#include "analysis/diagnostics.h"
#include "analysis/row_bands.h"

namespace fovea {

/// Figures of exact P: alpha = n max_j sum_i P_ij^2 (Lemma 1) and the same without n (section 4.3),
/// kappa = max_i / min_i <1 - M_i, A_i>, infinite if a row lies wholly in M, stable rank |P|_F^2 /
/// |P|_op^2, mean mass on M, and the samples for which Lemmas 1 and 2 promise an epsilon of 1,
/// kappa^7 alpha^2 and dv times the stable rank. M are the blocks: the pairs that the plan sums
/// exactly, which are its passes without weights, or those of its row estimates. Of the
/// approximation: mean |d~_i / d_i - 1| of the row sums; |P~ - P|_op / |P|_op; the epsilons that
/// solve the paper's
///   Eq. 1, |Z~ - Z|_op = epsilon |P|_op |V|_op,
///   Eq. 2, |(D~^-1 - D^-1) A|_op = epsilon |P|_op, and
/// Eq. 3, |Z~ - D~^-1 A V|_op = epsilon |P|_op |V|_op; and where row sums are estimated, the shares
/// of those that are at their floor and of sampled entries that met their cap. All figures use all
/// rows: alpha, kappa and the mass take three passes of row sums, one of them over the blocks
/// alone. If P has more than `max_entries` entries the figures that need |P|_op are left out, and
/// say so.
std::vector<Diagnostic> sampling_figures(const Diagnosis& of, Run& run,
                                         double max_entries = most_read_entries);

}  // namespace fovea
