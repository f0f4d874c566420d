// hash finds LSH buckets.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "data/matrix.h"

namespace fovea::cuda {

inline constexpr int most_directions = 32;

/// Rows start a multiple of 4 floats apart; what pads them is zero, in x or in directions.
struct HashArgs {
  const float* x = nullptr;
  Index n = 0;
  int x_stride = 0;
  const float* directions = nullptr;
  int count = 0;  // of directions: at most most_directions
  int direction_stride = 0;
  std::int32_t* bucket = nullptr;  // [n], as Backend::lsh_buckets says
};

void hash(const HashArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
