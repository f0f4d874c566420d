// ResidentQueryTiles are the query tiles of a plan, in the shape that suits the kernel of one
// precision, on the host and on the device.
#pragma once

#include "data/problem.h"
#include "device/buffer.h"
#include "device/precision.h"
#include "tiles/query_tile_shape.h"

namespace fovea::cuda {

struct ResidentQueryTiles {
  /// `dv`: columns that V will have, 0 for sums only. `by_warpgroups`: attend_wgmma may take them.
  ResidentQueryTiles(const TileList& plan_tiles, Index d, Index dv, Precision its_precision,
                     bool by_warpgroups, const Device& device);
  /// Those of the queries `its_rows` of a dense list, for kernels that can make maps.
  ResidentQueryTiles(const TileList& plan_tiles, IndexRange its_rows, Index d, Index dv,
                     Precision its_precision, bool by_warpgroups, const Device& device);

  Precision precision = Precision::fp32;
  bool warpgroups = false;
  IndexRange rows;  // queries
  int height = 0;
  Index wave = 1;  // as in QueryTileShape
  QueryTileList list;
  Buffer<QueryTile> tiles;
  Buffer<ColumnRun> runs;
  Buffer<DividedQueryTile> divided;

  /// Rows of softmax states, those of parts with them.
  Index states = 0;

 private:
  void upload(const Device& device, Index its_states, const QueryTileShape& shape);

  const Device::WaitAtEnd uploaded_;  // from the list, so this ends first
};

}  // namespace fovea::cuda
