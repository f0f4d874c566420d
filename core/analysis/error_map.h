// The error map of two operators: P~ - P over a rectangle, pooled to pixels.
#pragma once

#include "backend/operator.h"

namespace fovea {

/// Pooled by max: the entry of largest magnitude with its sign; of equal ones the positive. By the
/// back end where it can, else band of rows by band of rows; O(band) memory.
Matrix error_pixels(const Operator& approximate, const Operator& exact, Difference kind,
                    IndexRange rows, IndexRange cols, Pool pool, Run& run);

}  // namespace fovea
