// Column squares are the squared norms of the columns of exact P: sum_i P_ij^2 of every key j.
#pragma once

#include <span>
#include <vector>

#include "backend/backend.h"

namespace fovea {

/// The row sums of exp over the pairs of a plan, sinks left out: [nq] natural logarithms, -inf for
/// a query without a pair. One pass of the back end. Throws Cancelled.
std::vector<float> log_sums_over(Plan pairs, const Problem& problem, const Backend& backend,
                                 Run& run);

/// [n] sum_i P_ij^2 over all rows i; lse [n] are the logarithms of the numbers by which the rows of
/// P are divided. With queries and keys exchanged these are row sums, sum_i exp(2 S_ij - 2 lse_i):
/// one pass of the back end, with its precision, O(n) memory beside a copy of the mask and of a
/// bias of pairs. The head has as many queries as keys. Throws Cancelled, UnavailableError for a
/// bias that does not fit into the memory budget.
std::vector<double> column_squares(const Problem& problem, std::span<const float> lse,
                                   const Backend& backend, Run& run);

}  // namespace fovea
