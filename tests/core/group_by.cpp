#include "data/group_by.h"

#include <doctest/doctest.h>

using namespace fovea;

TEST_CASE("members are sorted by group, ascending in each, groups without members too") {
  const std::vector<std::int32_t> group{3, 0, 3, 1, 0};
  const Grouped grouped = group_by(group, 5);
  CHECK(grouped.order == std::vector<std::int32_t>{1, 4, 3, 0, 2});
  CHECK(grouped.begin == std::vector<Index>{0, 2, 3, 3, 5, 5});
  CHECK(grouped.positions(0) == IndexRange{0, 2});
  CHECK(grouped.positions(2).size() == 0);
  CHECK(grouped.positions(4) == IndexRange{5, 5});
  CHECK(group_begins(group, 5) == grouped.begin);
  CHECK(group_by({}, 2).begin == std::vector<Index>{0, 0, 0});
}

TEST_CASE("the inverse of an order says where each number stands") {
  const std::vector<std::int32_t> order{4, 0, 2};
  CHECK(inverse_of(order, 5) == std::vector<std::int32_t>{1, -1, 2, -1, 0});
  CHECK(inverse_of({}, 2) == std::vector<std::int32_t>{-1, -1});
}

TEST_CASE("ranges intersect in what both have, or in nothing") {
  CHECK(IndexRange{2, 9}.intersected({5, 20}) == IndexRange{5, 9});
  CHECK(IndexRange{2, 9}.intersected({-3, 4}) == IndexRange{2, 4});
  CHECK(IndexRange{2, 9}.intersected({3, 5}) == IndexRange{3, 5});
  CHECK(IndexRange{2, 9}.intersected({12, 20}).size() == 0);
  CHECK(IndexRange{12, 20}.intersected({2, 9}).size() == 0);
}
