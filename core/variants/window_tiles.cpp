#include "variants/window_tiles.h"

#include <algorithm>

namespace fovea {

std::vector<Tile> window_tiles(IndexRange rows, IndexRange cols, Index reach, bool causal) {
  std::vector<Tile> tiles;
  for (Index begin = rows.begin; begin < rows.end; begin += rows_of_tile) {
    const Index end = std::min(begin + rows_of_tile, rows.end);
    const IndexRange near = cols.intersected({begin - reach, causal ? end : end + reach});
    if (near.size() > 0)
      tiles.push_back({{begin, end}, near, {.lo = causal ? 0 : -reach, .hi = reach}});
  }
  return tiles;
}

}  // namespace fovea
