#include "variants/window_tiles.h"

#include <algorithm>

namespace fovea {

std::vector<Tile> window_tiles(IndexRange rows, IndexRange cols, Index reach, bool causal) {
  constexpr Index strip = 64;  // rows of a tile: as many as one strip of the back ends
  std::vector<Tile> tiles;
  for (Index begin = rows.begin; begin < rows.end; begin += strip) {
    const Index end = std::min(begin + strip, rows.end);
    const IndexRange near = cols.intersected({begin - reach, causal ? end : end + reach});
    if (near.size() > 0)
      tiles.push_back({{begin, end}, near, {.lo = causal ? 0 : -reach, .hi = reach}});
  }
  return tiles;
}

}  // namespace fovea
