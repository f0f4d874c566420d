// A RunningSum is a sum of 2^x, held relative to the largest x so far.
#pragma once

#include "ptx.h"

namespace fovea::cuda {

/// What exponents are taken relative to: avoids (-inf) - (-inf).
__device__ inline float finite_reference(float top) {
  return top == -INFINITY ? 0.0f : top;
}

struct RunningSum {
  float top = -INFINITY, sum = 0;

  /// Adds times 2^x. A NaN stays in the sum.
  __device__ void add(float x, float times) {
    move(x);
    sum += times * exp2_fast(x - finite_reference(top));
  }
  template <int Count>
  __device__ void add(const float (&x)[Count]) {
    float most = x[0];
#pragma unroll
    for (int b = 1; b < Count; ++b) most = fmaxf(most, x[b]);
    move(most);
#pragma unroll
    for (int b = 0; b < Count; ++b) sum += exp2_fast(x[b] - finite_reference(top));
  }
  __device__ float log2() const {
    return top == -INFINITY ? top : top + log2f(sum);
  }

 private:
  __device__ void move(float x) {
    if (!(x > top)) return;
    sum *= exp2_fast(top - x);
    top = x;
  }
};

}  // namespace fovea::cuda
