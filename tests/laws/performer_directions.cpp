// The random directions of Performer.
#include <doctest/doctest.h>

#include <cmath>

#include "harness.h"

using namespace fovea;
using namespace fovea::test;

TEST_CASE("law: the directions of performer are orthogonal in groups of d, with Gaussian norms") {
  const Index n = 4, d = 16, m = 800;
  const auto plan = make_plan(*backends().front(), make_data(Data::gaussian, n, d, 1, false),
                              "performer", {{"features", std::to_string(m)}});
  const auto& g = plan->structure.reals("features");
  double squares = 0;
  for (Index r = 0; r < m; ++r)
    for (Index s = r / d * d; s <= r; ++s) {
      double dot = 0, a = 0, b = 0;
      for (Index c = 0; c < d; ++c) {
        const double x = g[static_cast<std::size_t>(r * d + c)],
                     y = g[static_cast<std::size_t>(s * d + c)];
        dot += x * y;
        a += x * x;
        b += y * y;
      }
      if (s == r) squares += a;
      // Each entry is rounded to float32 once: 2^-24 of a product of norms, from both sides.
      if (s < r) CHECK(std::abs(dot) <= std::sqrt(a * b) * 0x1p-22);
    }
  // |g|^2 has mean d and variance 2 d: five standard deviations of the mean of m (one fixed seed).
  CHECK(std::abs(squares / static_cast<double>(m) - static_cast<double>(d)) <=
        5 * std::sqrt(2.0 * static_cast<double>(d) / static_cast<double>(m)));
}
