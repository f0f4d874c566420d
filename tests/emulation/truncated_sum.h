// How tensor cores may round.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace fovea::emulation {

/// c plus the products of a step, as tensor cores may add them: a number that has the exponent of
/// the largest of them and 25 bits keeps of each what it can, and so does the result of 24 bits.
template <std::size_t Count>
float truncated_sum(float c, const float (&products)[Count]) {
  float largest = std::abs(c);
  for (const float product : products) largest = std::max(largest, std::abs(product));
  double total = 0;
  if (!(largest > 0) || !std::isfinite(largest)) {
    for (const float product : products) c += product;
    return c;
  }
  int exponent = 0;
  std::frexp(largest, &exponent);
  const auto cut = [&](float each) {
    total += std::trunc(std::ldexp(static_cast<double>(each), 25 - exponent));
  };
  cut(c);
  for (const float product : products) cut(product);
  const double sum = std::ldexp(total, exponent - 25);
  const auto rounded = static_cast<float>(sum);
  return std::abs(static_cast<double>(rounded)) > std::abs(sum) ? std::nextafter(rounded, 0.0f)
                                                                : rounded;
}

}  // namespace fovea::emulation
