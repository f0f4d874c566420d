// Tiles for a mask of single pairs, which leave out what no query near attends.
#pragma once

#include <stop_token>

#include "plan/plan.h"

namespace fovea {

/// For each strip of 64 queries the runs of keys of which one of its queries attends each, with the
/// band; keys between two near runs may be among them. The pairs in the tiles still need the mask.
/// O(pairs / 32). Throws Cancelled.
Pass tiles_of_mask(const BitMatrix& pairs, const Band& band, const std::stop_token& stop = {});

}  // namespace fovea
