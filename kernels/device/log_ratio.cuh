// log_ratio is the logarithm of a quotient in two floats. GPUs for desktops do 64 operations in
// float in the time of one in double, of which a logarithm and a quotient take some fifty.
#pragma once

#include <cuda_runtime.h>

#include <cmath>

namespace fovea::cuda {

/// A number that is the sum of both.
struct TwoFloats {
  float high, low;
};

/// a + b, exact.
__device__ inline TwoFloats exact_sum(float a, float b) {
  const float sum = __fadd_rn(a, b), of_b = __fadd_rn(sum, -a);
  return {sum, __fadd_rn(__fadd_rn(a, -__fadd_rn(sum, -of_b)), __fadd_rn(b, -of_b))};
}

/// a b, exact unless it is below 2^-102.
__device__ inline TwoFloats exact_product(float a, float b) {
  const float product = __fmul_rn(a, b);
  return {product, fmaf(a, b, -product)};
}

__device__ inline TwoFloats sum(TwoFloats a, TwoFloats b) {
  const TwoFloats high = exact_sum(a.high, b.high);
  return exact_sum(high.high, high.low + (a.low + b.low));
}

__device__ inline TwoFloats product(TwoFloats a, TwoFloats b) {
  const TwoFloats high = exact_product(a.high, b.high);
  return {high.high, fmaf(a.high, b.low, fmaf(a.low, b.high, high.low))};
}

/// The parts of a positive number x = mantissa 2^exponent, mantissa in [1, 2).
struct FloatParts {
  float mantissa;
  int exponent;
};
__device__ inline FloatParts float_parts(float x) {
  const bool tiny = x < 0x1p-126f;
  const int bits = __float_as_int(tiny ? x * 0x1p24f : x);
  return {__int_as_float((bits & 0x007fffff) | 0x3f800000), (bits >> 23) - (tiny ? 127 + 24 : 127)};
}

/// log(a / b) of positive numbers, within 2^-40 of its size.
__device__ inline TwoFloats log_ratio(float a, float b) {
  if (a == INFINITY || b == INFINITY)
    return {a == b ? static_cast<float>(NAN) : a > b ? INFINITY : -INFINITY, 0};
  auto [x, up] = float_parts(a);
  auto [y, down] = float_parts(b);
  if (x > 1.41421356f * y) y *= 2, --down;
  if (y > 1.41421356f * x) x *= 2, --up;
  // log(x / y) = 2 (s + s^3 / 3 + s^5 / 5 + ...) with s = (x - y) / (x + y), |s| < 0.172. x - y is
  // exact. The rounding of what is added in one float is multiplied by s^6 = 3e-5 at most.
  const TwoFloats below = exact_sum(x, y);
  const float apart = x - y, quotient = apart / below.high,
              left = fmaf(-quotient, below.low, fmaf(-quotient, below.high, apart));
  const TwoFloats s = exact_sum(quotient, left / below.high), t = product(s, s);
  float rest = 1.0f / 15;
  rest = fmaf(rest, t.high, 1.0f / 13);
  rest = fmaf(rest, t.high, 1.0f / 11);
  rest = fmaf(rest, t.high, 1.0f / 9);
  rest = fmaf(rest, t.high, 1.0f / 7);
  constexpr double third = 1.0 / 3, fifth = 1.0 / 5;
  constexpr float third_high = third, fifth_high = fifth;
  TwoFloats series =
      sum({fifth_high, static_cast<float>(fifth - fifth_high)}, product(t, {rest, 0}));
  series = sum({third_high, static_cast<float>(third - third_high)}, product(t, series));
  series = product(s, product(t, series));
  const TwoFloats log = sum(s, series);
  // ln 2 in 15 bits, of which multiples by exponents are exact, and the rest.
  const auto times = static_cast<float>(up - down);
  return sum({2 * log.high, 2 * log.low},
             {__fmul_rn(times, 0x1.62e4p-1f), __fmul_rn(times, 0x1.7f7d1cp-20f)});
}

}  // namespace fovea::cuda
