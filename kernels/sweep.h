// A Sweep is what strips of queries find on their way past their keys: softmax sums and Z.
#pragma once

#include "bound_list.h"
#include "resident_strips.h"
#include "row_maps.h"
#include "timeline.h"

namespace fovea::cuda {

struct Sweep {
  DeviceMatrix z;              // in the first rows that of the queries; others hold coarse states
  Buffer<float> maximum, sum;  // [state rows] of every softmax, log2 units
  Buffer<float> log2_sum;      // [queries]
};

/// In the precision of the strips. `values` [n, at most columns_per_pass] may have no columns in
/// fp32: then only the sums are wanted. `maps`, in fp32, take values of at most map_values columns.
Sweep sweep(const BoundList& bound, const ResidentStrips& strips, MatrixView values, RowMaps* maps,
            Timeline& timeline, Run& run);

inline constexpr Index map_values = 128;

}  // namespace fovea::cuda
