// The logarithm of the features of linear attention, on every instruction set.
#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "backend/backends.h"
#include "backend/isa/attend.h"
#include "data/error.h"

using namespace fovea;

namespace {

/// Null: this machine does not have it.
const isa::Loops* loops_of(const std::string& name) {
  try {
    make_cpu_backend({.threads = 1, .isa = name});
  } catch (const UnavailableError&) {
    return nullptr;
  }
  return name == "sse2" ? &isa::sse2() : name == "avx2" ? &isa::avx2() : &isa::avx512();
}

double by_formula(double x) {
  return x > 0 ? std::log2(x + 1) : x * std::numbers::log2e;
}

}  // namespace

TEST_CASE("log2 of elu + 1 is that of float64, for every count of numbers") {
  for (const char* name : {"sse2", "avx2", "avx512"}) {
    const isa::Loops* loops = loops_of(name);
    if (!loops) continue;
    CAPTURE(name);
    std::vector<float> xs{0.0f, -0.0f, 1e-30f, -1e-30f, 1e30f, -1e30f};
    for (int step = -4000; step <= 4000; ++step) {
      xs.push_back(static_cast<float>(step) * 0.01f);
      xs.push_back(std::ldexp(1.0f, step / 100));
    }
    std::vector<float> found = xs;
    loops->log2_elu(found.data(), static_cast<int>(found.size()));
    for (std::size_t i = 0; i < xs.size(); ++i) {
      const double expected = by_formula(static_cast<double>(xs[i]));
      CAPTURE(xs[i]);
      // Rounding 1 + x, by 6e-8 of it, changes its log2 by 9e-8, and the series is rounded as much
      // again; the result, or the product with log2(e), is rounded by at most 1.2e-7 of itself.
      REQUIRE(std::abs(static_cast<double>(found[i]) - expected) <=
              2.5e-7 + 1.2e-7 * std::abs(expected));
    }
    for (int count = 0; count <= 33; ++count) {
      std::vector<float> some(xs.begin() + 100, xs.begin() + 140);
      loops->log2_elu(some.data(), count);
      for (std::size_t i = 0; i < some.size(); ++i)
        REQUIRE(some[i] == (static_cast<int>(i) < count ? found : xs)[100 + i]);
    }
    float not_a_number = std::numeric_limits<float>::quiet_NaN();
    loops->log2_elu(&not_a_number, 1);
    CHECK(std::isnan(not_a_number));
  }
}
