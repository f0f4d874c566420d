// feature_logs makes the logarithms of the features of tokens: as logarithms they can be neither
// too large nor too small for a float.
#pragma once

#include <cuda_runtime.h>

#include "data/matrix.h"

namespace fovea::cuda {

/// log2 phi_r(x) of some rows of Q or K. Rows of `logs` are `log_stride` numbers apart; what
/// follows the last feature of a row is not written.
struct FeatureLogArgs {
  const float* x = nullptr;  // [n, x_stride] all queries, or all keys
  int x_stride = 0, d = 0;
  const std::int32_t* drawn = nullptr;  // token of row r; none means first + r
  Index first = 0, count = 0;
  const float* directions = nullptr;  // [features, direction_stride] times sqrt(scale) log2 e;
  int direction_stride = 0;           // none: phi_r(x) = elu(x_r) + 1
  int features = 0;
  double half = 0;  // scale log2 e / 2: exponential features lose half |x|^2
  /// For queries, |x|^2 / 2 is left out, and so is the largest of each row: the logarithm of the
  /// two together is in `factor`. For keys, nothing is left out.
  bool of_queries = false;
  float* logs = nullptr;  // [count, log_stride]
  int log_stride = 0;
  double* factor = nullptr;  // [count] of queries; may be none
};

void feature_logs(const FeatureLogArgs& args, cudaStream_t stream);

}  // namespace fovea::cuda
