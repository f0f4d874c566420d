// ResidentStrips are a plan's strips as the kernel of one precision wants them, here and on the
// device.
#pragma once

#include "buffer.h"
#include "data/problem.h"
#include "precision.h"
#include "tile_list.h"

namespace fovea::cuda {

struct ResidentStrips {
  ResidentStrips() = default;
  /// Of the greatest height that the plan fills, whose memory a block can have, and that leaves
  /// enough strips to keep the device busy. `dv`: columns that V will have, 0 for sums alone.
  ResidentStrips(const TileList& tiles, Index d, Index dv, Precision precision,
                 const Device& device);

  int height = 0;
  StripList list;
  Buffer<Strip> strips;
  Buffer<ColumnRun> runs;
};

/// Columns of V that one pass over P takes, with strips of that height.
Index columns_per_pass(int height, Precision precision);

}  // namespace fovea::cuda
