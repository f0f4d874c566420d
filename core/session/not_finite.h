// Rows that NaN or infinity reached: figures that depend on them are not defined.
#pragma once

#include <string>

#include "session/computation.h"

namespace fovea {

/// Of `output`, which becomes that of `computation`.
NotFinite find_not_finite(const Computation& computation, const Output& output);

/// "NaN or Inf in 3 output rows of Exact: the input holds them, in q"; empty: all rows are
/// finite, or nothing is applied yet.
std::string note_of_not_finite(const Computation& computation);

}  // namespace fovea
