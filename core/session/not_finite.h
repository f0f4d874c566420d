// Rows that NaN or infinity reached: figures that depend on them are not defined.
#pragma once

#include <string>

#include "session/computation.h"

namespace fovea {

/// Of an output; where a head has no values, of P. A row without keys is finite.
Index rows_not_finite(const Output& output);

/// "NaN or Inf in 3 output rows of Exact: q.k or v exceeds the range of fp32"; empty: all rows are
/// finite, or nothing is applied yet.
std::string note_of_not_finite(const Computation& computation);

}  // namespace fovea
