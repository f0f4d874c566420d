// ResidentStrips are a plan's strips as the kernel of one precision wants them, here and on the
// device.
#pragma once

#include "data/problem.h"
#include "device/buffer.h"
#include "device/precision.h"
#include "tiles/tile_list.h"

namespace fovea::cuda {

struct ResidentStrips {
  ResidentStrips() = default;
  /// Of the greatest height that the plan fills, whose memory a block can have, and that leaves
  /// enough strips to keep the device busy. `dv`: columns that V will have, 0 for sums alone.
  ResidentStrips(const TileList& tiles, Index d, Index dv, Precision its_precision,
                 const Device& device);
  /// The queries `its_rows` of a dense list.
  ResidentStrips(const TileList& tiles, IndexRange its_rows, Index d, Index dv,
                 Precision its_precision, const Device& device);

  Precision precision = Precision::fp32;
  IndexRange rows;  // queries
  int height = 0;
  StripList list;
  Buffer<Strip> strips;
  Buffer<ColumnRun> runs;
};

/// The height for some queries that attend the same keys.
int strip_height(Index rows, Index d, Index dv, Precision precision, const Device& device);

/// Columns of V that one pass over P takes, with strips of that height.
Index columns_per_pass(int height, Precision precision);

}  // namespace fovea::cuda
