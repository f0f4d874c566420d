// finish turns softmax states of all query levels into Z and log-sum-exp.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

#include "data/matrix.h"

namespace fovea::cuda {

struct FinishArgs {
  Index n = 0;
  int levels = 1;  // states of level l begin at row pyramid_rows(n, l); a query merges one of each
  int dv = 0;      // a multiple of 4; 0 means sums only
  float* z = nullptr;  // [state rows, z_stride]; its first n rows become Z
  int z_stride = 0;
  const float* maximum = nullptr;
  const float* sum = nullptr;
  bool divided = false;         // z is already divided: only the sums are needed
  float log2_sink = -INFINITY;  // added to every sum as 2^log2_sink; then z is not divided yet
  float* log2_sum = nullptr;    // [n] log2 of the softmax sum; -inf without a key
};

void finish(const FinishArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
