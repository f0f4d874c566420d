#include "data/number_format.h"

#include <algorithm>
#include <cmath>

namespace fovea {

double largest_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::int8:
      return 127;
    case NumberFormat::int4:
      return 7;
    case NumberFormat::e4m3:
      return 448;
    case NumberFormat::e2m1:
      return 6;
  }
  return 0;
}

double step_at(NumberFormat format, double x) {
  if (format == NumberFormat::int8 || format == NumberFormat::int4) return 1;
  const bool eight_bits = format == NumberFormat::e4m3;
  const int fraction_bits = eight_bits ? 3 : 1, least_exponent = eight_bits ? -6 : 0;
  const int exponent = x == 0 ? least_exponent : std::max(std::ilogb(x), least_exponent);
  return std::ldexp(1.0, exponent - fraction_bits);
}

double rounded_to(NumberFormat format, double x) {
  if (std::isnan(x)) return x;
  const double within = std::min(std::abs(x), largest_of(format)), step = step_at(format, within);
  return std::copysign(std::nearbyint(within / step) * step, x);
}

}  // namespace fovea
