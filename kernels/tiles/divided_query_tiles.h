// Query tiles whose keys are divided among several blocks, so that few queries with many keys keep
// the whole device busy.
#pragma once

#include "tiles/tile_list.h"

namespace fovea::cuda {

/// How many keys the kernels go through for a query tile with these runs, without those that lie
/// beyond the bands of all its queries.
std::int32_t keys_of(const QueryTile& tile, std::span<const ColumnRun> runs);

/// Sorts the query tiles of each round by their keys, so that the device does not begin a long one
/// last.
void put_longest_first(QueryTileList& list);

/// Divides the keys of the query tiles that have more than `most_keys`, into parts of about the
/// same size, multiples of `keys_per_kv_tile`. The states of the parts begin at row `states`.
void divide_query_tiles(QueryTileList& list, Index most_keys, Index keys_per_kv_tile, Index states);

}  // namespace fovea::cuda
