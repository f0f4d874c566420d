// ResidentStrips are a plan's strips of the height that suits the kernel of one precision, on the
// host and on the device.
#pragma once

#include "data/problem.h"
#include "device/buffer.h"
#include "device/precision.h"
#include "tiles/tile_list.h"

namespace fovea::cuda {

struct ResidentStrips {
  ResidentStrips() = default;
  /// They have the greatest height that the plan fills, for which a block has enough memory and
  /// which leaves enough strips to keep the device busy. `dv`: columns that V will have, 0 for sums
  /// only.
  ResidentStrips(const TileList& tiles, Index d, Index dv, Precision its_precision,
                 const Device& device);
  /// Strips of the queries `its_rows` of a dense list.
  ResidentStrips(const TileList& tiles, IndexRange its_rows, Index d, Index dv,
                 Precision its_precision, const Device& device);

  Precision precision = Precision::fp32;
  IndexRange rows;  // queries
  int height = 0;
  StripList list;
  Buffer<Strip> strips;
  Buffer<ColumnRun> runs;
};

/// The height for a number of queries that attend the same keys.
int strip_height(Index rows, Index d, Index dv, Precision precision, const Device& device);

/// The widest head for which a block of the device has enough shared memory. (Row sums are in fp32
/// whatever the precision is.)
Index widest_head(Precision precision, const Device& device);

/// Most columns of V in one pass over P, with strips of that height.
Index columns_per_pass(int height, Precision precision);

}  // namespace fovea::cuda
