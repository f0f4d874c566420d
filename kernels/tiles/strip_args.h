// StripArgs are strips of queries with everything their logits are computed from, on the device.
#pragma once

#include <cstdint>

#include "tiles/tile_list.h"

namespace fovea::cuda {

/// A device matrix as the kernels read it: rows `stride` floats apart, a multiple of 4.
struct Rows {
  const float* data = nullptr;
  int stride = 0;
};

/// The arrays that strips and runs refer to.
struct Lists {
  const ColumnRun* runs = nullptr;
  const std::int32_t* indices = nullptr;
  const float* weights = nullptr;
  const std::int32_t* chunks = nullptr;
  std::int32_t n = 0;  // tokens
};

struct StripArgs {
  Rows q, k;  // levels of their pyramids one after another
  int d = 0;
  float log2_scale = 0;  // logits in log2 units are log2_scale q.k
  const Strip* strips = nullptr;
  int count = 0;
  Lists lists;
};

}  // namespace fovea::cuda
