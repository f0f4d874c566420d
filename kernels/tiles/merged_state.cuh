// A MergedState is a query tile's result for a query, joined with the query's earlier state.
#pragma once

#include "ptx.h"

namespace fovea::cuda {

struct MergedState {
  float maximum, sum;
  float ours = 1, theirs = 0;  // factors of the query tile's z and of the state's
  bool joined = false;         // the state was not empty, so its z counts

  /// maximum, sum: of the query tile. `has_state`: *old_sum and *old_maximum hold a state, which is
  /// empty if the sum is 0. `last`: z will be divided by the sum.
  __device__ MergedState(float found_maximum, float found_sum, bool has_state, const float* old_sum,
                         const float* old_maximum, bool last)
      : maximum(found_maximum), sum(found_sum) {
    const float before = has_state ? *old_sum : 0.0f;
    joined = before != 0;  // also for NaN, which is not a row without keys
    if (joined) {
      maximum = fmaxf(found_maximum, *old_maximum);
      const float reference = maximum == -INFINITY ? 0.0f : maximum;  // avoid (-inf) - (-inf)
      ours = exp2_fast(found_maximum - reference);
      theirs = exp2_fast(*old_maximum - reference);
      sum = fmaf(found_sum, ours, __fmul_rn(before, theirs));
    }
    if (last) ours = sum == 0 ? 0.0f : 1.0f / sum;
  }
};

}  // namespace fovea::cuda
