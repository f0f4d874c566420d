// The soft cap of logits in every instruction set, against tanh in float64.
#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "backend/isa/attend.h"

using namespace fovea;

TEST_CASE("c tanh(x / c) has a relative error below 1e-6 in every instruction set") {
  std::vector<const isa::Loops*> all{&isa::sse2()};
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.push_back(&isa::avx2());
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"))
    all.push_back(&isa::avx512());
  for (const isa::Loops* loops : all)
    for (const float cap : {0.5f, 3.0f, 50.0f}) {
      CAPTURE(loops->name);
      CAPTURE(cap);
      std::vector<float> x;
      for (int i = -4096; i < 4096; ++i)
        x.push_back(static_cast<float>(std::copysign(std::pow(std::abs(i) / 512.0, 3.0), i)) * cap);
      std::vector<float> s = x;
      loops->soft_cap(s.data(), static_cast<int>(s.size()), cap);
      double worst = 0;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double expected = static_cast<double>(cap) *
                                std::tanh(static_cast<double>(x[i]) / static_cast<double>(cap));
        if (expected != 0)
          worst = std::max(worst, std::abs(static_cast<double>(s[i]) / expected - 1));
      }
      CHECK(worst < 1e-6);
      // Infinite logits reach the cap, and NaN stays.
      s.assign(16, HUGE_VALF);
      s[1] = -HUGE_VALF;
      s[2] = NAN;
      loops->soft_cap(s.data(), 16, cap);
      CHECK(s[0] == cap);
      CHECK(s[1] == -cap);
      CHECK(std::isnan(s[2]));
    }
}
