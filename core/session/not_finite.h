// Rows that NaN or infinity reached, over which figures are not defined, and what is said of them
// and of weights that rounding changes much.
#pragma once

#include <string>

#include "session/computation.h"

namespace fovea {

/// What is not finite in `output`, which becomes that of `computation`.
NotFinite find_not_finite(const Computation& computation, const Output& output);

/// What is said of the numbers of an output: "NaN or Inf in 3 output rows of Exact: the input holds
/// them, or numbers beyond 1e14, in q", and "logits near 1e+07: weights of Exact in fp32 are
/// rounded by up to 229 %" from half a percent on. Empty: all rows are finite, and nothing is
/// rounded that much; or nothing is applied yet.
std::string note_of_numbers(const Computation& computation);

}  // namespace fovea
