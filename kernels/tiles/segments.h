// Segments are what a pass over P keeps for maps of it: of every query and every column of pixels
// the largest logit and the sum of the weights. When a query's own sum is known they become its
// share of a pixel.
#pragma once

#include <cuda_runtime.h>

#include "data/matrix.h"

namespace fovea::cuda {

/// Where attend leaves the segments of one launch. Column c is of keys [c pixel, (c + 1) pixel).
struct SegmentArgs {
  int pixel = 0, columns = 0;
  /// [strips, height, columns] in log2 units: the largest logit; the log of the sum of the weights.
  float2* found = nullptr;
  int2* seen = nullptr;  // [strips] columns [x, y) were met; others are not written
};

/// Queries [first, first + rows) of those that have maps: a launch. Row r of the maps is of queries
/// [r pixel, (r + 1) pixel).
struct PoolSegmentsArgs {
  SegmentArgs segments;
  int height = 0;  // queries of a strip
  Index first = 0, rows = 0;
  const float* log2_sum = nullptr;  // [rows]
  float* most = nullptr;            // [map rows, columns] largest entries of P so far, 0 at first
  double* sum = nullptr;            // and their sums. NaN: a query is not finite
};

/// Adds the launch to the maps, query by query: the result does not depend on how they were cut
/// into launches and strips.
void pool_segments(const PoolSegmentsArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
