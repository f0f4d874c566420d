// How tensor cores may round.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>

namespace fovea::emulation {

/// 2^exponent, a normal number.
inline double power_of_two(int exponent) {
  return std::bit_cast<double>(static_cast<std::uint64_t>(exponent + 1023) << 52);
}

/// c plus the products of a step, as tensor cores may add them: a number that has the exponent of
/// the largest of them and 25 bits keeps of each what it can, and so does the result of 24 bits.
template <std::size_t Count>
float truncated_sum(float c, const float (&products)[Count]) {
  float largest = std::abs(c);
  for (const float product : products) largest = std::max(largest, std::abs(product));
  if (!(largest > 0) || !std::isfinite(largest)) {
    for (const float product : products) c += product;
    return c;
  }
  // That of numbers in [1/2, 1) is 0. As a double every float is a normal number.
  const int exponent =
      static_cast<int>(std::bit_cast<std::uint64_t>(static_cast<double>(largest)) >> 52) - 1022;
  // Whole numbers of at most 26 bits, whose sum is exact in any order.
  const double unit = power_of_two(25 - exponent);
  double total = std::trunc(static_cast<double>(c) * unit);
  for (const float product : products) total += std::trunc(static_cast<double>(product) * unit);
  const double sum = total * power_of_two(exponent - 25);
  const auto rounded = static_cast<float>(sum);
  // Towards zero: the bits of the next smaller number are one less.
  return std::abs(static_cast<double>(rounded)) > std::abs(sum)
             ? std::bit_cast<float>(std::bit_cast<std::uint32_t>(rounded) - 1)
             : rounded;
}

}  // namespace fovea::emulation
