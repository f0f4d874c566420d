#include "tiles/divided_query_tiles.h"

#include <algorithm>
#include <numeric>

namespace fovea::cuda {
namespace {

// The positions of a run that the kernels go through (next_kv_tile in query_tile.cuh).
IndexRange reached(const QueryTile& tile, const ColumnRun& run) {
  IndexRange keys{run.begin, run.end};
  if (tile.rows < 0 && run.cols < 0) {
    const Index first = std::max(tile.first_row, run.first_row),
                last = std::min(tile.first_row + tile.row_count, run.last_row) - 1;
    keys.begin = std::clamp(first - run.hi, keys.begin, keys.end);
    keys.end = std::clamp(last - run.lo + 1, keys.begin, keys.end);
  }
  return keys;
}

Index size_of_parts(Index keys, Index parts, Index keys_per_kv_tile) {
  return (keys + parts * keys_per_kv_tile - 1) / (parts * keys_per_kv_tile) * keys_per_kv_tile;
}

// Cuts the runs of a query tile into parts of `size` keys and calls `add` with each part, a query
// tile with its own runs.
template <class Add>
void cut_keys(QueryTile tile, Index size, std::vector<ColumnRun>& runs, Add add) {
  const std::int32_t last_run = tile.last_run;
  Index taken = 0;
  std::vector<ColumnRun> part;
  const auto finish = [&] {
    tile.first_run = static_cast<std::int32_t>(runs.size());
    runs.insert(runs.end(), part.begin(), part.end());
    tile.last_run = static_cast<std::int32_t>(runs.size());
    tile.keys = static_cast<std::int32_t>(taken);
    add(tile);
    part.clear();
    taken = 0;
  };
  for (std::int32_t r = tile.first_run; r < last_run; ++r) {
    ColumnRun run = runs[r];
    const IndexRange keys = reached(tile, run);
    for (Index begin = keys.begin; begin < keys.end; begin = run.end) {
      run.begin = static_cast<std::int32_t>(begin);
      run.end = static_cast<std::int32_t>(std::min(keys.end, begin + size - taken));
      taken += run.end - run.begin;
      part.push_back(run);
      if (taken == size) finish();
    }
  }
  if (taken > 0) finish();
}

}  // namespace

Index QueryTileList::after(Index tile) const {
  const auto found = std::ranges::lower_bound(divided, tile, {}, &DividedQueryTile::first);
  return found != divided.end() && found->first == tile ? tile + found->parts : tile + 1;
}

std::int32_t keys_of(const QueryTile& tile, std::span<const ColumnRun> runs) {
  Index keys = 0;
  for (const ColumnRun& run : runs) keys += reached(tile, run).size();
  return static_cast<std::int32_t>(keys);
}

void put_longest_first(QueryTileList& list) {
  for (const QueryTileRange& round : list.rounds)
    std::stable_sort(list.tiles.begin() + round.first, list.tiles.begin() + round.last,
                     [](const QueryTile& a, const QueryTile& b) { return a.keys > b.keys; });
}

void divide_query_tiles(QueryTileList& list, Index most_keys, Index keys_per_kv_tile,
                        Index states) {
  std::vector<QueryTile> tiles;
  for (QueryTileRange& round : list.rounds) {
    const QueryTileRange whole = round;
    round.first = std::ssize(tiles);
    for (Index s = whole.first; s < whole.last; ++s) {
      QueryTile tile = list.tiles[s];
      if (tile.keys <= most_keys) {
        tiles.push_back(tile);
        continue;
      }
      DividedQueryTile divided{tile, static_cast<std::int32_t>(tiles.size()), 0};
      tile.part = true;
      const Index size =
          size_of_parts(tile.keys, (tile.keys - 1) / most_keys + 1, keys_per_kv_tile);
      cut_keys(tile, size, list.runs, [&](QueryTile part) {
        part.state_base = static_cast<std::int32_t>(states + list.part_states);
        list.part_states += part.row_count;
        tiles.push_back(part);
        ++divided.parts;
      });
      list.divided.push_back(divided);
    }
    round.last = std::ssize(tiles);
  }
  list.tiles = std::move(tiles);
}

}  // namespace fovea::cuda
