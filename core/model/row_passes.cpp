// Compiled so that its loops become vectors: see CMakeLists.txt.
#include "model/row_passes.h"

#include <algorithm>
#include <cmath>

namespace fovea {
namespace {

/// The sum of value(j) over j < count, in double, as several sums that do not wait for each other.
double sum_of(std::size_t count, const auto& value) {
  constexpr std::size_t lanes = 8;
  double sums[lanes] = {};
  std::size_t j = 0;
  for (; j + lanes <= count; j += lanes)
    for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane] += value(j + lane);
  for (; j < count; ++j) sums[0] += value(j);
  double sum = 0;
  for (const double part : sums) sum += part;
  return sum;
}

/// The error function within 3e-7 of its value, as a quotient of polynomials in x^2 whose largest
/// relative error is 2e-8 where |x| < 3.925. Beyond, it is 1 in float32. Found by weighted least
/// squares; all coefficients are positive, so that sums lose no digits.
inline float error_function(float x) {
  constexpr float end = 3.925f;
  x = std::min(std::max(x, -end), end);
  const float t = x * x;
  const float above =
      ((((2.047211677e-6f * t + 2.846394579e-4f) * t + 3.764371401e-3f) * t + 5.274403601e-2f) * t +
       1.904060615e-1f) *
          t +
      1.128379148f;
  const float below =
      ((((3.804935913e-5f * t + 1.161836147e-3f) * t + 1.496685097e-2f) * t + 1.141047327e-1f) * t +
       5.020757507e-1f) *
          t +
      1.0f;
  return x * above / below;
}

inline float sigmoid(float x) {
  return 1.0f / (1.0f + std::exp(-x));
}

constexpr float root_half = 0.70710678f;     // 1 / sqrt(2)
constexpr float root_8_by_pi = 1.59576912f;  // 2 sqrt(2 / pi)

void add_bias_and(const std::vector<float>& bias, float* row, const auto& function) {
  const std::size_t count = bias.size();
  const float* const from = bias.data();
  for (std::size_t j = 0; j < count; ++j) row[j] = function(row[j] + from[j]);
}

}  // namespace

void LayerNorm::apply(const float* row, float* out) const {
  const std::size_t count = weight.size();
  const auto size = static_cast<double>(count);
  const double mean = sum_of(count, [&](std::size_t j) { return double{row[j]}; }) / size;
  const double variance = sum_of(count,
                                 [&](std::size_t j) {
                                   const double from_mean = double{row[j]} - mean;
                                   return from_mean * from_mean;
                                 }) /
                          size;
  const double factor = 1 / std::sqrt(variance + epsilon);
  const float* const times = weight.data();
  const float* const plus = bias.data();
  for (std::size_t j = 0; j < count; ++j)
    out[j] = static_cast<float>((double{row[j]} - mean) * factor) * times[j] + plus[j];
}

void activate(Activation activation, const std::vector<float>& bias, float* row) {
  switch (activation) {
    case Activation::gelu:
      return add_bias_and(
          bias, row, [](float x) { return 0.5f * x * (1.0f + error_function(x * root_half)); });
    case Activation::tanh_gelu:  // 0.5 x (1 + tanh u) = x sigmoid(2 u)
      return add_bias_and(bias, row, [](float x) {
        return x * sigmoid(root_8_by_pi * (x + 0.044715f * x * x * x));
      });
    case Activation::quick_gelu:
      return add_bias_and(bias, row, [](float x) { return x * sigmoid(1.702f * x); });
    case Activation::relu:
      return add_bias_and(bias, row, [](float x) { return x < 0.0f ? 0.0f : x; });
    case Activation::silu:
      return add_bias_and(bias, row, [](float x) { return x * sigmoid(x); });
    case Activation::gated_silu: {
      const std::size_t half = bias.size() / 2;
      for (std::size_t j = 0; j < half; ++j) {
        const float gate = row[j] + bias[j];
        row[j] = gate * sigmoid(gate) * (row[half + j] + bias[half + j]);
      }
      return;
    }
  }
}

}  // namespace fovea
