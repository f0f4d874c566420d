// A QueryTileShape is how query tiles are cut for one kernel on one device: how many queries they
// have, and when their keys are divided among several blocks.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <vector>

#include "device/device.h"
#include "device/precision.h"
#include "tiles/tile_list.h"

namespace fovea::cuda {

struct QueryTileShape {
  int height = 0;
  /// Keys of a query tile, at most: longer ones are divided (divide_query_tiles).
  Index most_keys = std::numeric_limits<Index>::max();
  Index keys_per_kv_tile = kv_tile_keys;  // keys that the kernel takes at a time
  Index wave = 1;                         // blocks that the device runs at a time
};

/// How many keys the query tiles of a height have.
using QueryTileKeys = std::function<std::vector<EqualQueryTiles>(int height)>;

/// What query tiles are for.
struct QueryTileUse {
  Index d = 0, dv = 0;  // columns of K, and those that V will have; 0 means sums only
  Precision precision = Precision::fp32;
  bool warpgroups = false;  // attend_wgmma is used where wgmma_takes, else never
  bool maps = false;        // the kernel must be able to make them
  bool gathers = false;     // keys do not follow one another
};

/// The shape for which a model of the device expects the shortest time.
QueryTileShape choose_shape(const QueryTileKeys& keys, const QueryTileUse& use,
                            const Device& device);

/// Dynamic shared memory of a block.
std::size_t query_tile_shared_bytes(int height, Index d, Precision precision, const Device& device);

/// The widest head for which a block of the device has enough shared memory. (Row sums are in fp32
/// whatever the precision is.)
Index widest_head(Precision precision, const Device& device);

/// Most columns of V in one pass over P, with query tiles of that height.
Index columns_per_pass(int height, Precision precision);

/// Blocks that follow one another and take as much time each, not 0.
struct EqualBlocks {
  std::int32_t time, count;
};

/// When a device is done that runs `at_once` blocks at a time and starts them in their order.
/// O(blocks + result).
Index makespan(const std::vector<EqualBlocks>& blocks, Index at_once);

}  // namespace fovea::cuda
