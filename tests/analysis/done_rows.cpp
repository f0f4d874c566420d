#include "analysis/done_rows.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <random>

using namespace fovea;

TEST_CASE("done rows: the next piece is the open one nearest to the focus") {
  std::mt19937 random(7);
  for (const Index rows : {1, 2, 3, 17, 64}) {
    DoneRows done(rows);
    Index count = 0;
    while (!done.all()) {
      const auto focus = static_cast<Index>(random() % (rows + 8)) - 4;
      const auto most = static_cast<Index>(1 + random() % 5);
      const IndexRange next = done.next(focus, most);
      REQUIRE(next.size() >= 1);
      CHECK(next.size() <= most);
      CHECK((next.begin >= 0 && next.end <= rows));
      const Index at = std::min(std::max<Index>(focus, 0), rows - 1);
      Index nearest = rows;
      for (Index row = next.begin; row < next.end; ++row) {
        CHECK_FALSE(done.has(row));
        nearest = std::min(nearest, std::abs(row - at));
      }
      for (Index row = 0; row < rows; ++row)
        if (!done.has(row)) CHECK(std::abs(row - at) >= nearest);
      done.add(next);
      done.add(next);  // twice is once
      count += next.size();
      CHECK(done.share() == doctest::Approx(double(count) / double(rows)));
    }
    CHECK(done.next(0, 3).size() == 0);
    CHECK(count == rows);
  }
}
