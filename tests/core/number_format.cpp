// Every number of the formats of few bits, what lies between them, and what is no number of theirs.
#include "data/number_format.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <vector>

using namespace fovea;

namespace {

/// OCP 8-bit floating point, E4M3: S.1111.111 is NaN, and there are no infinities.
double number_of_e4m3(int code) {
  const int exponent = (code >> 3) & 15, fraction = code & 7;
  if (exponent == 15 && fraction == 7) return std::numeric_limits<double>::quiet_NaN();
  const double size =
      exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return code & 128 ? -size : size;
}

/// Positive numbers in the order of their codes.
std::vector<double> numbers_of(NumberFormat format) {
  std::vector<double> numbers;
  switch (format) {
    case NumberFormat::int8:
    case NumberFormat::int4:
      for (int i = 0; i <= (format == NumberFormat::int8 ? 127 : 7); ++i) numbers.push_back(i);
      break;
    case NumberFormat::e4m3:
      for (int code = 0; code < 127; ++code) numbers.push_back(number_of_e4m3(code));
      break;
    case NumberFormat::e2m1:
      numbers = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  }
  return numbers;
}

constexpr NumberFormat all_formats[] = {NumberFormat::int8, NumberFormat::int4, NumberFormat::e4m3,
                                        NumberFormat::e2m1};

}  // namespace

TEST_CASE("all 256 codes of E4M3 and all 16 of E2M1 round to themselves") {
  int numbers = 0;
  for (int code = 0; code < 256; ++code) {
    const double x = number_of_e4m3(code), rounded = rounded_to(NumberFormat::e4m3, x);
    CHECK((std::isnan(x) ? std::isnan(rounded) : rounded == x));
    CHECK((std::isnan(x) || std::signbit(rounded) == std::signbit(x)));
    numbers += !std::isnan(x);
  }
  CHECK(numbers == 254);
  for (const double x : numbers_of(NumberFormat::e2m1))
    for (const double sign : {1.0, -1.0}) {
      CHECK(rounded_to(NumberFormat::e2m1, sign * x) == sign * x);
      CHECK(std::signbit(rounded_to(NumberFormat::e2m1, sign * x)) == (sign < 0));
    }
}

TEST_CASE("between two numbers of a format the nearer one is taken, in the middle the even code") {
  for (const NumberFormat format : all_formats) {
    const std::vector<double> numbers = numbers_of(format);
    CHECK(largest_of(format) == numbers.back());
    for (std::size_t code = 0; code + 1 < numbers.size(); ++code) {
      const double low = numbers[code], high = numbers[code + 1], middle = (low + high) / 2;
      CAPTURE(middle);
      CHECK(step_at(format, middle) == high - low);
      for (const double sign : {1.0, -1.0}) {
        CHECK(rounded_to(format, sign * middle) == sign * (code % 2 == 0 ? low : high));
        CHECK(rounded_to(format, sign * std::nextafter(middle, 0)) == sign * low);
        CHECK(rounded_to(format, sign * std::nextafter(middle, high)) == sign * high);
      }
    }
  }
}

TEST_CASE(
    "what lies beyond a format becomes its largest number, NaN stays NaN, the least become 0") {
  for (const NumberFormat format : all_formats) {
    const double most = largest_of(format), infinity = std::numeric_limits<double>::infinity();
    for (const double beyond : {most * 1.01, 1e300, infinity}) {
      CHECK(rounded_to(format, beyond) == most);
      CHECK(rounded_to(format, -beyond) == -most);
    }
    CHECK(std::isnan(rounded_to(format, std::numeric_limits<double>::quiet_NaN())));
    const double half = step_at(format, 0) / 2;
    CHECK(rounded_to(format, half) == 0);
    CHECK(rounded_to(format, std::nextafter(half, 1)) == 2 * half);
    CHECK(rounded_to(format, std::numeric_limits<double>::denorm_min()) == 0);
  }
  CHECK(step_at(NumberFormat::e4m3, 0) == 0x1p-9);  // subnormal numbers
}
