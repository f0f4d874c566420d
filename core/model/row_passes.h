// What an Encoder does to each row of a matrix on its own.
#pragma once

#include <vector>

#include "model/architectures.h"

namespace fovea {

/// row = (row - its mean) / sqrt(its variance + epsilon) * weight + bias.
struct LayerNorm {
  std::vector<float> weight, bias;
  double epsilon = 0;
  void apply(const float* row, float* out) const;
};

/// row = activation(row + bias). A gated activation leaves its result in the first half of the row.
void activate(Activation activation, const std::vector<float>& bias, float* row);

}  // namespace fovea
