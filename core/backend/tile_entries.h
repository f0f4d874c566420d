// Entries of P of a bound TilePlan, one by one or pooled to a grid of pixels.
#pragma once

#include "backend/bound_tiles.h"
#include "backend/operator.h"
#include "backend/workers.h"

namespace fovea {

/// P over rows x cols, [pool.rows, pool.cols], as Operator::tile has it. log2_sums: [n] log2 of the
/// softmax sum of each row that is needed. `tiles` are complete. O(pairs of the rectangle) time,
/// O(pixels) memory.
Matrix tile_entries(const BoundTiles& tiles, IndexRange rows, IndexRange cols, Pool pool,
                    const std::vector<float>& log2_sums, Workers& workers, Run& run);

}  // namespace fovea
