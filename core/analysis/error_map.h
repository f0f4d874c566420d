// The error map of two operators: P~ - P over a rectangle, pooled to pixels.
#pragma once

#include "backend/operator.h"

namespace fovea {

/// Pooling by max gives the entry of largest magnitude with its sign, the positive one of two equal
/// ones; so does pool.largest. The back end does it if it can; otherwise it is done band of rows by
/// band of rows, in O(band) memory.
Matrix error_pixels(const Operator& approximate, const Operator& exact, Difference kind,
                    IndexRange rows, IndexRange cols, Pool pool, Run& run);

}  // namespace fovea
