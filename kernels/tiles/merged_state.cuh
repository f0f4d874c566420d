// A MergedState is what a strip found of a query, joined with what the query's state held before.
#pragma once

#include "ptx.h"

namespace fovea::cuda {

struct MergedState {
  float maximum, sum;
  float ours = 1, theirs = 0;  // what the strip's z and the state's are multiplied by
  bool joined = false;         // the state held something: its z counts

  /// maximum, sum: what the strip found. `has_state`: there may be something in *old_sum and
  /// *old_maximum; a sum of 0 says that there is not. `last`: z is to be divided by the sum.
  __device__ MergedState(float found_maximum, float found_sum, bool has_state, const float* old_sum,
                         const float* old_maximum, bool last)
      : maximum(found_maximum), sum(found_sum) {
    const float before = has_state ? *old_sum : 0.0f;
    joined = before != 0;  // NaN too: it is not a row without keys
    if (joined) {
      maximum = fmaxf(found_maximum, *old_maximum);
      const float reference = maximum == -INFINITY ? 0.0f : maximum;  // avoid (-inf) - (-inf)
      ours = exp2_fast(found_maximum - reference);
      theirs = exp2_fast(*old_maximum - reference);
      sum = found_sum * ours + before * theirs;
    }
    if (last) ours = sum == 0 ? 0.0f : 1.0f / sum;
  }
};

}  // namespace fovea::cuda
