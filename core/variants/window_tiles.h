// Tiles of a window: the tokens around each query. For passes in sequence order.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace fovea {

/// Rows of a tile that is narrower than its head: as many as one strip of the back ends.
inline constexpr Index rows_of_tile = 64;

/// The pairs |i - j| <= reach of queries in `rows` and keys in `cols`, or under a causal mask those
/// of them with j <= i. Queries without such a key are in no tile.
std::vector<Tile> window_tiles(IndexRange rows, IndexRange cols, Index reach, bool causal);

}  // namespace fovea
