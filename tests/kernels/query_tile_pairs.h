// The pairs that query tiles and groups of a TileList go through, to compare one with another.
#pragma once

#include <map>
#include <tuple>

#include "tiles/tile_list.h"

namespace fovea::test {

/// How often each pair comes: the order of the queries, a position in it, the base and the order of
/// the keys, a position in that, and where its weight is.
using Pairs = std::map<std::tuple<Index, Index, Index, Index, Index, Index>, int>;

/// Adds the pairs of rows at positions [first, last) and the keys of a run. Where both are in
/// sequence order, they are those of its band.
inline void add_pairs(std::int32_t order, Index first, Index last, const cuda::ColumnRun& run,
                      Pairs& pairs) {
  for (Index key = run.begin; key < run.end; ++key)
    for (Index row = std::max<Index>(first, run.first_row);
         row < std::min<Index>(last, run.last_row); ++row) {
      const bool banded = order < 0 && run.cols < 0;
      if (!banded || (row - key >= run.lo && row - key <= run.hi))
        ++pairs[{order, row, run.key_base, run.cols, key, run.weight}];
    }
}

inline void add_pairs(const cuda::QueryTile& tile, const std::vector<cuda::ColumnRun>& runs,
                      Pairs& pairs) {
  for (std::int32_t r = tile.first_run; r < tile.last_run; ++r)
    add_pairs(tile.rows, tile.first_row, tile.first_row + tile.row_count, runs[r], pairs);
}

}  // namespace fovea::test
