// The logarithm of a quotient in two floats, against the one in double.
#include "device/log_ratio.cuh"

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cmath>

#include "data/random.h"

using namespace fovea;

namespace {

double found(float a, float b) {
  const cuda::TwoFloats log = cuda::log_ratio(a, b);
  return static_cast<double>(log.high) + static_cast<double>(log.low);
}

// In long double: a quotient in double that is nearly 1 has lost bits.
double expected(float a, float b) {
  const long double x = a, y = b;
  return static_cast<double>(a > b / 2 && a < 2 * b ? std::log1p((x - y) / y) : std::log(x / y));
}

}  // namespace

TEST_CASE("log_ratio is the logarithm of the quotient within 2^-40") {
  Random draw(1, 2);
  double worst = 0;
  const auto check = [&](float a, float b) {
    CAPTURE(a);
    CAPTURE(b);
    const double log = expected(a, b), error = std::abs(found(a, b) - log) / std::abs(log);
    if (a != b) worst = std::max(worst, error);
    if (a == b) CHECK(found(a, b) == 0);
  };
  for (int i = 0; i < 200000; ++i) {
    const auto a = static_cast<float>(std::exp(-30 * draw.uniform()));
    check(a, static_cast<float>(std::exp(-30 * draw.uniform())));
    check(a, a * static_cast<float>(1 + 1e-3 * draw.normal()));  // as good approximations are
    check(a, std::nextafter(a, 2.0f));
    check(a, static_cast<float>(std::exp2(-149 * draw.uniform())));  // also below 2^-126
  }
  for (const float a : {1.0f, 0x1p-149f, 0x1.fffffep127f, 0x1.fffffep-127f, 1.41421356f})
    for (const float b : {1.0f, 0x1p-149f, 0x1.fffffep127f, 0x1p-126f, 1.41421366f}) check(a, b);
  MESSAGE("2^", std::log2(worst));
  CHECK(worst <= 0x1p-40);
}

TEST_CASE("log_ratio of what is infinite is infinite, or NaN of two") {
  CHECK(found(INFINITY, 1) == INFINITY);
  CHECK(found(0x1p-149f, INFINITY) == -INFINITY);
  CHECK(std::isnan(found(INFINITY, INFINITY)));
}
