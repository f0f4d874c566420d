// Adam against its algorithm in float64.
#include "learning/adam.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace fovea;

TEST_CASE("Adam follows Algorithm 1 of its paper") {
  Adam adam(2);
  std::vector<float> x{1.0f, -2.0f};
  double expected[] = {1, -2}, m[] = {0, 0}, v[] = {0, 0};
  for (int t = 1; t <= 50; ++t) {
    const std::vector<float> gradient{std::sin(static_cast<float>(t)), 1e-6f};
    adam.step(x, gradient, 0.01);
    for (std::size_t i = 0; i < 2; ++i) {
      const auto g = static_cast<double>(gradient[i]);
      m[i] = 0.9 * m[i] + 0.1 * g;
      v[i] = 0.999 * v[i] + 0.001 * g * g;
      expected[i] -= 0.01 * (m[i] / (1 - std::pow(0.9, t))) /
                     (std::sqrt(v[i] / (1 - std::pow(0.999, t))) + 1e-12);
      // Parameters and moments are rounded to float in each step.
      CHECK(std::abs(static_cast<double>(x[i]) - expected[i]) <= t * 4 * 0x1p-24);
    }
  }
  CHECK(adam.steps() == 50);
  CHECK(std::abs(expected[1] - (-2.5)) < 1e-6);  // a constant gradient: by the rate in each step
}

TEST_CASE("Adam goes on from its moments as if it had not stopped") {
  Adam straight(1);
  std::vector<float> x{0.5f}, y{0.5f};
  for (int t = 0; t < 6; ++t) straight.step(x, {static_cast<float>(t) - 2}, 0.1);
  Adam first(1);
  for (int t = 0; t < 3; ++t) first.step(y, {static_cast<float>(t) - 2}, 0.1);
  Adam second(first.first(), first.second(), first.steps());
  for (int t = 3; t < 6; ++t) second.step(y, {static_cast<float>(t) - 2}, 0.1);
  CHECK(x == y);
}
