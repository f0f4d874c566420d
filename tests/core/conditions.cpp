#include "data/conditions.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

using namespace fovea;

TEST_CASE("what is absent among conditions is as the others say, and only that") {
  const HeadConditions own{.causal = false, .window = 0};
  const HeadConditions others{.causal = true, .scale = 0.5, .window = 7};
  const HeadConditions expected{.causal = false, .scale = 0.5, .window = 0};
  CHECK(own.or_else(others) == expected);
  CHECK(own.or_else({}) == own);
  CHECK(HeadConditions{}.or_else(others) == others);
}

TEST_CASE("the table of conditions names each of them once") {
  std::set<std::string> ids;
  HeadConditions all{true, 2, 3, 4};
  for_conditions([&](const auto& condition) {
    CHECK(ids.insert(condition.id).second);
    (all.*condition.member).reset();
  });
  CHECK(all == HeadConditions{});
}

TEST_CASE("conditions that cannot be are named with what is expected") {
  CHECK(fault_of({}).empty());
  CHECK(fault_of({.causal = false, .scale = 1e-9, .window = 0, .soft_cap = 0}).empty());
  CHECK(fault_of({.scale = 0}) == "scale is 0; expected a finite number above 0");
  CHECK(fault_of({.scale = NAN}).starts_with("scale is nan"));
  CHECK(fault_of({.scale = INFINITY}).starts_with("scale is inf"));
  CHECK(fault_of({.window = -1}).starts_with("sliding window is -1; expected a number of keys"));
  CHECK(fault_of({.soft_cap = -0.5}).starts_with("soft cap is -0.5; expected a number from 0"));
  CHECK(fault_of({.soft_cap = NAN}).starts_with("soft cap is nan"));
}
