// A RoundedHead is a head in numbers of few bits: what a plan computes with in place of the head's
// own queries, keys and values.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "data/matrix.h"

namespace fovea {

/// How one tensor was rounded: x became x^.
struct TensorRounding {
  std::string tensor;        // "q", "k", "v"
  double largest_scale = 0;  // the largest of the scales that numbers are divided by
  double clipped = 0;        // share in [0, 1] of the numbers beyond the format's largest
  double zeroed = 0;         // share in [0, 1] of the numbers that are not 0 and became 0
  double error = 0;          // |x^ - x|_F / |x|_F; x^ of smoothed keys includes the mean key
  Index worst_channel = -1;  // the column with the largest error; -1 without an error
  double worst_share = 0;    // the share in [0, 1] of |x^ - x|_F^2 that this column has
};

struct RoundedHead {
  /// [nq, d'], [nk, d'], [nk, dv]. Tensors that are not rounded are those of the head. If the mean
  /// key m is subtracted from the keys before they are rounded, a last column has q . m and 1, so
  /// that logits keep what it contributes to them.
  MatrixView q, k, v;
  std::vector<TensorRounding> tensors;  // those that are rounded
  std::shared_ptr<const void> owner;    // keeps q, k, v alive
};

}  // namespace fovea
