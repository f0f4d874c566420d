// A NumberFormat is a format of 8 or 4 bits in which kernels multiply. Numbers are rounded to the
// nearest one of the format, ties to even. Those beyond its largest number become that number.
#pragma once

namespace fovea {

enum class NumberFormat {
  int8,  // whole numbers from -127 to 127; -128 is not used
  int4,  // whole numbers from -7 to 7
  e4m3,  // OCP FP8: 3 bits of fraction, exponents from -6 to 8, subnormal numbers, up to 448
  e2m1   // OCP MX FP4: 0, 0.5, 1, 1.5, 2, 3, 4 and 6
};

double largest_of(NumberFormat format);

/// The distance between neighbouring numbers of the format near x. Rounding moves an x within the
/// format's range by at most half of it.
double step_at(NumberFormat format, double x);

/// The format's number for x; NaN stays NaN.
double rounded_to(NumberFormat format, double x);

}  // namespace fovea
