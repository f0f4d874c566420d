#include "figure/ticks.h"

#include <doctest/doctest.h>

#include <cmath>

using namespace fovea;

TEST_CASE("token ticks lie in the range, evenly, and are few") {
  for (const Index n : {1, 2, 7, 64, 100, 384, 1000, 4096, 131072})
    for (const Index begin : {Index{0}, n / 3}) {
      CAPTURE(n);
      const IndexRange range{begin, begin + n};
      const auto ticks = token_ticks(range, 4);
      CHECK(ticks.size() <= 6);
      if (begin == 0) CHECK(ticks.front().label == "0");
      for (std::size_t t = 0; t < ticks.size(); ++t) {
        CHECK(range.contains(static_cast<Index>(ticks[t].at)));
        // A token is a cell from its index to the next; its tick stands at the centre.
        CHECK(ticks[t].at == ticks[t].label.toDouble() + 0.5);
        if (t > 1)
          CHECK(ticks[t].at - ticks[t - 1].at == doctest::Approx(ticks[1].at - ticks[0].at));
      }
    }
  CHECK(token_ticks({0, 384}, 4)[1].label == "128");
  CHECK(token_ticks({0, 1000}, 5)[1].label == "200");
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
  CHECK(ticks.front().label == QStringLiteral("10⁻⁵"));
  CHECK(log_ticks(1e-12, 1, 4).size() <= 5);
  CHECK(log_ticks(0.2, 0.7, 4).size() == 2);
}

TEST_CASE("numbers are short, with a true minus") {
  CHECK(number_text(0) == "0");
  CHECK(number_text(-0.25) == QStringLiteral("−0.25"));
  CHECK(number_text(4e-5) == QStringLiteral("4×10⁻⁵"));
  CHECK(number_text(131072) == "131072");
  CHECK(number_text(INFINITY) == QStringLiteral("∞"));
}
