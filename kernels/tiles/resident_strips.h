// ResidentStrips are a plan's strips of the shape that suits the kernel of one precision, on the
// host and on the device.
#pragma once

#include "data/problem.h"
#include "device/buffer.h"
#include "device/precision.h"
#include "tiles/strip_shape.h"

namespace fovea::cuda {

struct ResidentStrips {
  /// `dv`: columns that V will have, 0 for sums only. `by_warpgroups`: attend_wgmma may take them.
  ResidentStrips(const TileList& tiles, Index d, Index dv, Precision its_precision,
                 bool by_warpgroups, const Device& device);
  /// Strips of the queries `its_rows` of a dense list.
  ResidentStrips(const TileList& tiles, IndexRange its_rows, Index d, Index dv,
                 Precision its_precision, bool by_warpgroups, const Device& device);

  Precision precision = Precision::fp32;
  bool warpgroups = false;
  IndexRange rows;  // queries
  int height = 0;
  StripList list;
  Buffer<Strip> strips;
  Buffer<ColumnRun> runs;
  Buffer<DividedStrip> divided;

  /// Rows of softmax states, those of parts with them.
  Index states = 0;

 private:
  void upload(const Device& device, Index its_states, const StripShape& shape);

  const Device::WaitAtEnd uploaded_;  // from the list, so this ends first
};

}  // namespace fovea::cuda
