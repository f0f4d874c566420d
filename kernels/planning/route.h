// route sends vectors down a tree.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "data/matrix.h"

namespace fovea::cuda {

/// A level of a Tree; its weights and biases lie behind those of the levels above it.
struct RouteLevel {
  Index first_row = 0;
  int branching = 2;
  bool by_sign = true;
};

struct RouteArgs {
  const float* x = nullptr;  // the first of `count` rows
  Index count = 0;
  int x_stride = 0, d = 0;
  const float* weight = nullptr;
  int weight_stride = 0;
  const float* bias = nullptr;
  const RouteLevel* levels = nullptr;
  int height = 0;
  std::int32_t* leaf = nullptr;  // of the first of these rows
};

/// The leaves are those of the CPU back end, bit for bit: sums are taken in its order, and no
/// product is fused with a sum. So a tree is the same tree wherever it is drawn.
void route(const RouteArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
