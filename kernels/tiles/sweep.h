// A Sweep is the result of one pass of query tiles over their keys: softmax sums and Z.
#pragma once

#include "device/timeline.h"
#include "tiles/bound_list.h"
#include "tiles/resident_query_tiles.h"
#include "tiles/row_maps.h"

namespace fovea::cuda {

struct Sweep {
  DeviceMatrix z;              // Z in the first rows; the others hold coarse states
  Buffer<float> maximum, sum;  // [state rows] of every softmax, log2 units
  Buffer<float> log2_sum;      // [queries]
  // There is no result: products of warpgroups cannot be used, and the query tiles are too tall for
  // other kernels. The caller must cut lower ones.
  bool too_tall = false;
};

/// Columns of V, with the means of clusters, in one precision.
struct Values {
  Index cols = 0;  // 0: only the sums are needed, in fp32
  Precision precision = Precision::fp32;
  std::shared_ptr<const DeviceMatrix> fp32 = {};    // null in any other precision
  std::shared_ptr<const SplitMatrix> rounded = {};  // null in fp32
  float factor = 1;                                 // see MmaOperands
};

/// In fp32 instead of fp32_split where the rows are too unlike to be split. Throws UnavailableError
/// for values beyond the range of 16 bits.
Values make_values(const BoundList& bound, const Tensor& values, Precision precision,
                   Timeline& timeline);

/// In the precision of the query tiles and of the values, which have at most columns_per_pass
/// columns, and at most map_values with `maps`, which are of the logits of that precision.
Sweep sweep(const BoundList& bound, const ResidentQueryTiles& query_tiles, const Values& values,
            RowMaps* maps, Timeline& timeline, Run& run);

inline constexpr Index map_values = 128;

}  // namespace fovea::cuda
