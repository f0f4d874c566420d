// Named tensors of a plan.
#include "plan/structure.h"

#include <doctest/doctest.h>

using namespace fovea;

TEST_CASE("structures with the same tensors are equal, in whatever order they were set") {
  Structure one, other;
  one.set("order", std::vector<std::int32_t>{2, 0, 1});
  one.set("weight", std::vector<float>{0.5f});
  other.set("weight", std::vector<float>{0.5f});
  CHECK(one != other);
  other.set("order", std::vector<std::int32_t>{2, 0, 1});
  CHECK(one == other);
  other.set("order", std::vector<std::int32_t>{2, 1, 0});
  CHECK(one != other);
  other.erase("order");
  other.set("orders", std::vector<std::int32_t>{2, 0, 1});
  CHECK(one != other);
}
