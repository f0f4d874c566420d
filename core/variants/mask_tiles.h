// Tiles for a mask of single pairs, which leave out what no query near attends.
#pragma once

#include "plan/plan.h"
#include "variants/variant.h"

namespace fovea {

/// For each strip of 64 queries a tile for each run of keys that some query of the strip attends,
/// with the band; or of 192 queries, if these attend nearly the same keys. Two runs with a gap of
/// at most 8 keys are one tile; with a larger gap if there would be more than half a million tiles
/// (24 MiB). The pairs in the tiles still need the mask. O(pairs / 32). Throws Cancelled, and what
/// reading rows throws.
Pass tiles_of_mask(const BitRows& pairs, const Band& band, const Planning& planning);

}  // namespace fovea
