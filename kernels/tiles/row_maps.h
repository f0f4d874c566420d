// RowMaps are the maxima and means of P over squares of tokens for some queries, collected launch
// by launch during a pass over P.
#pragma once

#include "backend/operator.h"
#include "device/buffer.h"
#include "tiles/resident_query_tiles.h"
#include "tiles/segments.h"

namespace fovea::cuda {

class RowMaps {
 public:
  /// For the queries of the tiles, in sequence order, over all keys.
  RowMaps(const Device& device, const ResidentQueryTiles& tiles, Index keys, Index pixel);

  /// Allocates memory for the segments of a launch, of a smaller launch if there is too little. To
  /// be called after everything else was allocated. Returns how many query tiles a launch may have.
  Index reserve();
  SegmentArgs segments() const;

  /// Adds the segments of a launch: those of the queries [first, first + rows), counted from the
  /// first of all, with their sums. `tile`: the first one of the launch.
  void add(Index tile, Index first, Index rows, const float* log2_sum);

  /// Forgets what was added.
  void clear();

  /// Waits for the device.
  void download(RowsOutput& to) const;

 private:
  const Device& device_;
  const IndexRange rows_;
  const int height_;
  const Index wave_, blocks_, keys_, pixel_, columns_, map_rows_;
  std::vector<std::int32_t> first_blocks_;  // of each query tile, its parts taken together
  Index most_parts_ = 1;
  Buffer<std::int32_t> first_block_;
  Buffer<float> most_;
  Buffer<double> sum_;
  Buffer<float2> found_;
  Buffer<int2> seen_;
  const Device::WaitAtEnd uploaded_;  // from first_blocks_, so this ends first
};

}  // namespace fovea::cuda
