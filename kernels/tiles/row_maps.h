// RowMaps are the maxima and means of P over squares of tokens, for some queries, while a pass over
// P finds them launch by launch.
#pragma once

#include "backend/operator.h"
#include "device/buffer.h"
#include "tiles/resident_strips.h"
#include "tiles/segments.h"

namespace fovea::cuda {

class RowMaps {
 public:
  /// Of the queries of the strips, in sequence order, over keys [0, n).
  RowMaps(const Device& device, const ResidentStrips& strips, Index n, Index pixel);

  /// Takes memory for the segments of a launch, with less at hand for a smaller one: when all else
  /// has its memory. Returns how many strips a launch may have.
  Index reserve();
  SegmentArgs segments() const;

  /// A launch has found the segments of the queries [first, first + rows), counted from the first
  /// of all, and their sums.
  void add(Index first, Index rows, const float* log2_sum);

  /// Waits for the device.
  void download(RowsOutput& to) const;

 private:
  const Device& device_;
  const IndexRange rows_;
  const int height_;
  const Index strips_, n_, pixel_, columns_, map_rows_;
  Buffer<float> most_;
  Buffer<double> sum_;
  Buffer<float2> found_;
  Buffer<int2> seen_;
};

}  // namespace fovea::cuda
