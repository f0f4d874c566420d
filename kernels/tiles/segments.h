// Segments are what a pass over P keeps for maps: for each query and each column of pixels the
// largest logit and the sum of the weights. When the sum of the whole row is known, they become the
// query's share of a pixel.
#pragma once

#include <cuda_runtime.h>

#include "data/matrix.h"

namespace fovea::cuda {

/// Where attend writes the segments of one launch. Column c covers keys [c pixel, (c + 1) pixel).
struct SegmentArgs {
  int pixel = 0, columns = 0;
  /// [query tiles, height, columns] in log2 units: the largest logit; the log of the sum of the
  /// weights.
  float2* found = nullptr;
  int2* seen = nullptr;  // [query tiles] columns [x, y) were written, no others
};

/// A launch: queries [first, first + rows) of those that have maps. Row r of the maps covers
/// queries [r pixel, (r + 1) pixel).
struct PoolSegmentsArgs {
  SegmentArgs segments;
  /// Where the blocks of each query tile begin, of which one that is divided has several, and those
  /// of the next query tile. The launch begins with the first one of these.
  const std::int32_t* first_block = nullptr;
  int height = 0;  // queries of a query tile
  Index first = 0, rows = 0;
  const float* log2_sum = nullptr;  // [rows]
  float* most = nullptr;            // [map rows, columns] largest entries of P so far, 0 at first
  double* sum = nullptr;            // and their sums. NaN: a query is not finite
  Index first_map_row = 0;          // of the launch; set by pool_segments
};

/// Adds the launch to the maps query by query, so that the result does not depend on how the
/// queries were cut into launches and query tiles, as long as their keys were not divided.
void pool_segments(PoolSegmentsArgs args, cudaStream_t stream);

}  // namespace fovea::cuda
