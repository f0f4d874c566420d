#include "tiles/resident_strips.h"

#include <algorithm>

#include "tiles/divided_strips.h"

namespace fovea::cuda {
namespace {

// Keys of the strips of a height. Keys beyond the bands are left out as in keys_of.
std::vector<Index> keys_of_strips(const StripList& list) {
  std::vector<Index> keys;
  for (const Strip& strip : list.strips) keys.push_back(keys_of(strip, list.runs));
  return keys;
}

}  // namespace

ResidentStrips::ResidentStrips(const TileList& tiles, Index d, Index dv, Precision its_precision,
                               bool by_warpgroups, const Device& device)
    : precision(its_precision),
      warpgroups(by_warpgroups),
      rows{0, tiles.lengths.queries},
      uploaded_(device) {
  const StripShape shape =
      choose_shape([&](int each) { return keys_of_strips(cut_strips(tiles, each)); }, d, dv,
                   precision, warpgroups, device);
  height = shape.height;
  list = cut_strips(tiles, height);
  put_longest_first(list);
  upload(device, pyramid_rows(rows.size(), tiles.query_top + 1), shape);
}

ResidentStrips::ResidentStrips(const TileList& tiles, IndexRange its_rows, Index d, Index dv,
                               Precision its_precision, bool by_warpgroups, const Device& device)
    : precision(its_precision), warpgroups(by_warpgroups), rows(its_rows), uploaded_(device) {
  const StripShape shape =
      choose_shape([&](int each) { return keys_of_strips(cut_strips(tiles, rows, each)); }, d, dv,
                   precision, warpgroups, device);
  height = shape.height;
  list = cut_strips(tiles, rows, height);
  upload(device, rows.size(), shape);
}

void ResidentStrips::upload(const Device& device, Index its_states, const StripShape& shape) {
  divide_strips(list, shape.most_keys, shape.step, its_states);
  states = its_states + list.part_states;
  strips = {device, std::span<const Strip>(list.strips)};
  runs = {device, std::span<const ColumnRun>(list.runs)};
  divided = {device, std::span<const DividedStrip>(list.divided)};
}

}  // namespace fovea::cuda
