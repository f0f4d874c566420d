// The queries of a head in the order of their output errors, the worst first.
#pragma once

#include <span>
#include <vector>

#include "data/matrix.h"

namespace fovea {

/// All indices of `errors` [n] in descending order; the lower index first among equal errors.
/// Errors that are not finite are the worst. O(n log n).
std::vector<Index> worst_queries(std::span<const float> errors);

}  // namespace fovea
