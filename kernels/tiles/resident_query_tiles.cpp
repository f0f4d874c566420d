#include "tiles/resident_query_tiles.h"

#include <algorithm>

#include "tiles/divided_query_tiles.h"

namespace fovea::cuda {
ResidentQueryTiles::ResidentQueryTiles(const TileList& plan_tiles, Index d, Index dv,
                                       Precision its_precision, bool by_warpgroups,
                                       const Device& device)
    : precision(its_precision),
      warpgroups(by_warpgroups),
      rows{0, plan_tiles.lengths.queries},
      uploaded_(device) {
  const QueryTileShape shape =
      choose_shape([&](int each) { return count_keys(plan_tiles, each); },
                   {d, dv, precision, warpgroups, false, !plan_tiles.dense}, device);
  height = shape.height;
  list = cut_query_tiles(plan_tiles, height);
  put_longest_first(list);
  upload(device, pyramid_rows(rows.size(), plan_tiles.query_top + 1), shape);
}

ResidentQueryTiles::ResidentQueryTiles(const TileList& plan_tiles, IndexRange its_rows, Index d,
                                       Index dv, Precision its_precision, bool by_warpgroups,
                                       const Device& device)
    : precision(its_precision), warpgroups(by_warpgroups), rows(its_rows), uploaded_(device) {
  const QueryTileShape shape =
      choose_shape([&](int each) { return count_keys(plan_tiles, rows, each); },
                   {d, dv, precision, warpgroups, true}, device);
  height = shape.height;
  list = cut_query_tiles(plan_tiles, rows, height);
  upload(device, rows.size(), shape);
}

void ResidentQueryTiles::upload(const Device& device, Index its_states,
                                const QueryTileShape& shape) {
  divide_query_tiles(list, shape.most_keys, shape.keys_per_kv_tile, its_states);
  states = its_states + list.part_states;
  wave = shape.wave;
  tiles = {device, std::span<const QueryTile>(list.tiles)};
  runs = {device, std::span<const ColumnRun>(list.runs)};
  divided = {device, std::span<const DividedQueryTile>(list.divided)};
}

}  // namespace fovea::cuda
