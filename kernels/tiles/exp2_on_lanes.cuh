// exp2_on_lanes computes 2^x by multiply-adds, so that some of the exponentials of a softmax do not
// wait for the special function units, which have 16 results in a clock of a multiprocessor where
// the fp32 lanes have 128 (FlashAttention-4).
#pragma once

#include <cuda_runtime.h>

namespace fovea::cuda {

/// 2^x for x <= 127, with a relative error of at most 3e-6; 0 for x <= -127, NaN for NaN.
__device__ __forceinline__ float exp2_on_lanes(float x) {
  // x + nearest is rounded to a whole number, with which its bits end: that of x, and the bias of
  // an exponent.
  constexpr float nearest = 0x1.8p23f + 127;
  x = x < -127.0f ? -127.0f : x;  // keeps NaN
  const float whole = x + nearest, rest = x - (whole - nearest);
  const float power = __uint_as_float(__float_as_uint(whole) << 23);  // 0 for x = -127
  // 2^rest on [-1/2, 1/2]: the polynomial of degree 4 with the least relative error that is 1 at 0.
  float y = 0.009582852944731712f;
  y = fmaf(y, rest, 0.055906426161527634f);
  y = fmaf(y, rest, 0.24024099111557007f);
  y = fmaf(y, rest, 0.6931241750717163f);
  y = fmaf(y, rest, 1.0f);
  return y * power;
}

}  // namespace fovea::cuda
