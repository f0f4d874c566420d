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

/// row + bias through the activation, in place. Where it is gated the first half of the row
/// receives the result.
void activate(Activation activation, const std::vector<float>& bias, float* row);

}  // namespace fovea
