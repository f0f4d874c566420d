// Rows that NaN or infinity reached: figures that depend on them are not defined.
#pragma once

#include <string>

#include "session/computation.h"

namespace fovea {

/// A row whose logits all lie below the range of a float looks like a row without keys: Z = 0,
/// lse = -inf. Where the plan gives it keys, both become NaN.
void mark_overflow(const Plan& plan, Output& output);

/// Whether the logits of a query left the range of a float, so that its log-sum-exp is NaN. Its
/// weights are then not known: a back end gives 0 for them. Never so of an imported result, whose
/// sums are not those of its P.
bool has_unknown_weights(const Computation& of, Index query);

/// Of `output`, which becomes that of `computation`.
NotFinite find_not_finite(const Computation& computation, const Output& output);

/// "NaN or Inf in 3 output rows of Exact: q.k or v exceeds the range of fp32"; empty: all rows are
/// finite, or nothing is applied yet.
std::string note_of_not_finite(const Computation& computation);

}  // namespace fovea
