// How much memory a piece of work holds.
#include "evaluate/resident_use.h"

#include <doctest/doctest.h>

#include <chrono>
#include <thread>

#include "data/matrix.h"

using namespace fovea;

TEST_CASE("the rise of resident memory counts blocks that other matrices have used before") {
  constexpr Index n = 2048;
  constexpr double bytes = double(n) * n * sizeof(float);
  { const Matrix before(n, n, 1.0f); }  // its block is kept for the next of its size
  const auto use = resident_use_of([] {
    const Matrix again(n, n, 1.0f);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    CHECK(again(n - 1, n - 1) == 1);
  });
  REQUIRE(use);
  CHECK(use->rise() > 0.9 * bytes);
}
