// join_parts joins the softmax states of the parts of divided query tiles to those of their
// queries.
#pragma once

#include <cuda_runtime.h>

#include "tiles/tile_list.h"

namespace fovea::cuda {

/// A query tile has at most so many parts.
inline constexpr int most_parts = 32;

struct JoinPartsArgs {
  const DividedQueryTile* divided = nullptr;
  int count = 0;
  const QueryTile* tiles = nullptr;       // of which the parts are
  const std::int32_t* indices = nullptr;  // orders of queries
  int dv = 0;                             // columns of Z, a multiple of 4; 0: sums only
  float* z = nullptr;                     // [state rows, z_stride]
  int z_stride = 0;
  float* maximum = nullptr;  // [state rows], log2 units
  float* sum = nullptr;      // [state rows]
  bool last = false;  // these are all keys of the queries: states are not read, z is divided by sum
};

void join_parts(const JoinPartsArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
