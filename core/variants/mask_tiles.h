// Tiles for a mask of single pairs, which leave out what no query near attends.
#pragma once

#include <stop_token>

#include "plan/plan.h"

namespace fovea {

/// For each strip of 64 queries a tile for each run of keys that some query of the strip attends,
/// with the band. Two runs with a gap of at most 8 keys are one tile. The pairs in the tiles still
/// need the mask. O(pairs / 32). Throws Cancelled.
Pass tiles_of_mask(const BitMatrix& pairs, const Band& band, const std::stop_token& stop = {});

}  // namespace fovea
