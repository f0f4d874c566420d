// A Sweep is what strips of queries find on their way past their keys: softmax sums and Z.
#pragma once

#include "device/timeline.h"
#include "tiles/bound_list.h"
#include "tiles/resident_strips.h"
#include "tiles/row_maps.h"

namespace fovea::cuda {

struct Sweep {
  DeviceMatrix z;              // in the first rows that of the queries; others hold coarse states
  Buffer<float> maximum, sum;  // [state rows] of every softmax, log2 units
  Buffer<float> log2_sum;      // [queries]
};

/// Columns of V, with the means of clusters, in one precision.
struct Values {
  Index cols = 0;  // 0: only the sums are wanted, in fp32
  DeviceMatrix fp32 = {};
  Matrix16 rounded = {};  // of 16 bits
};

/// Throws UnavailableError where the precision does not hold them.
Values upload_values(const BoundList& bound, MatrixView values, Precision precision,
                     Timeline& timeline);

/// In the precision of the strips and of the values, which are at most columns_per_pass. `maps`, in
/// fp32, take at most map_values of them.
Sweep sweep(const BoundList& bound, const ResidentStrips& strips, const Values& values,
            RowMaps* maps, Timeline& timeline, Run& run);

inline constexpr Index map_values = 128;

}  // namespace fovea::cuda
