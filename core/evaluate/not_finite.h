// Rows that NaN or infinity reached, over which figures are not defined; and notes about them, and
// about weights that rounding changes much.
#pragma once

#include <string>

#include "evaluate/computation.h"

namespace fovea {

/// The rows of `output` that are not finite; `output` becomes that of `computation`.
NotFinite find_not_finite(const Computation& computation, const Output& output);

/// Notes on the numbers of an output: "NaN or Inf in 3 output rows of Exact: the input holds them,
/// or numbers beyond 1e14, in q", and "logits near 1e+07: weights of Exact in fp32 are rounded by
/// up to 229 %" from half a percent on. Empty if all rows are finite and no weight is rounded that
/// much, or if nothing is applied yet.
std::string note_of_numbers(const Computation& computation);

}  // namespace fovea
