// A RoundedHead is a head in numbers of few bits: what a plan computes with in place of the head's
// own queries, keys and values.
#pragma once

#include <memory>
#include <optional>
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

/// How weights are rounded before they are multiplied by values. If P_i* is the largest weight of
/// row i, then top P_ij / P_i* = top exp(S_ij - max S_i) becomes a number of the format: E4M3, or
/// E2M1 with a scale in E4M3 for consecutive keys. Rows are divided by the sums of their weights
/// before these are rounded, so rounded ones need not sum to 1.
struct WeightRounding {
  double top = 0;
  Index share = 0;  // keys that share a scale, with E2M1; 0 with E4M3, which has none
};

struct RoundedHead {
  /// [nq, d'], [nk, d'], [nk, dv]. Tensors that are not rounded are those of the head. If the mean
  /// key m is subtracted from the keys before they are rounded, a last column has q . m and 1, so
  /// that logits keep what it contributes to them.
  MatrixView q, k, v;
  std::vector<TensorRounding> tensors;  // those that are rounded
  std::optional<WeightRounding> weights = {};
  std::shared_ptr<const void> owner;  // keeps q, k, v alive
};

}  // namespace fovea
