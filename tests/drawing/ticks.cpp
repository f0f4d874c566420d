#include "drawing/ticks.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace fovea;
using namespace fovea::drawing;

TEST_CASE("places of tokens lie in the range, on powers of two, and keep their distance") {
  for (double extent = 4; extent < 131072; extent *= 1.7)
    for (const double spacing : {13.0, 30.0, 34.0}) {
      CAPTURE(extent);
      const double cell = 280 / extent, low = 3.3;
      const auto places = token_places(low, low + extent, {cell, spacing, 6});
      // Some are there, but for a few tokens so wide that none begins within.
      if (extent > 2 * spacing) CHECK_FALSE(places.empty());
      for (std::size_t i = 0; i < places.size(); ++i) {
        CHECK(double(places[i]) >= low);
        CHECK(double(places[i]) < low + extent);
        if (i > 0) CHECK(double(places[i] - places[i - 1]) * cell >= spacing);
      }
    }
  CHECK(token_places(0, 384, {1, 100, 6}) == std::vector<Index>{0, 128, 256});
}

TEST_CASE("linear ticks are round numbers within the range") {
  for (const double high : {1e-6, 0.14, 0.5, 1.0, 37.0, 4e9}) {
    const auto ticks = linear_ticks(-high, high, 5);
    CHECK(ticks.size() >= 2);
    CHECK(ticks.size() <= 7);
    for (const Tick& tick : ticks) CHECK(std::abs(tick.at) <= high * (1 + 1e-9));
  }
  CHECK(linear_ticks(0, 1, 5)[1].label == "0.2");
  CHECK(linear_ticks(3, 3, 5).size() == 1);
}

TEST_CASE("whole ticks are whole, at every number while there is room") {
  for (const double high : {1.0, 2.0, 4.0, 15.0})
    for (const Tick& tick : whole_ticks(0, high, 5)) CHECK(tick.at == std::rint(tick.at));
  CHECK(whole_ticks(0, 1, 5).size() == 2);
  CHECK(whole_ticks(1, 3, 5)[1].label == "2");
}

TEST_CASE("log ticks are powers of ten") {
  const auto ticks = log_ticks(1e-5, 0.3, 5);
  CHECK(ticks.size() == 5);
  CHECK(ticks.front().label == "10⁻⁵");
  CHECK(log_ticks(1e-12, 1, 4).size() <= 5);
  CHECK(log_ticks(0.2, 0.7, 4).size() == 2);
}
