// The check of plans refuses what back ends could not run.
#include <doctest/doctest.h>

#include "data/error.h"
#include "plan/plan.h"

using namespace fovea;

namespace {

Plan plan_of(std::vector<Pass> passes) {
  return {.lengths = {4, 4}, .causal = false, .form = TilePlan{std::move(passes)}};
}

}  // namespace

TEST_CASE("check_disjoint accepts tiles that share rows but no pair") {
  Pass fine;
  fine.tiles = {{{0, 2}, {0, 2}, {.lo = 0}}, {{0, 2}, {0, 2}, {.hi = -1}}, {{2, 4}, {2, 4}}};
  Pass coarse{.query_level = 1, .key_level = 1, .rows = {1, 0}, .cols = {0, 1}};
  coarse.tiles = {{{0, 1}, {0, 1}}, {{1, 2}, {1, 2}}};
  CHECK_NOTHROW(check_disjoint(plan_of({fine, coarse})));
}

TEST_CASE("check_disjoint refuses a pair covered twice, in a pass or across passes") {
  Pass once, again;
  once.tiles = {{{0, 4}, {0, 4}}};
  again.tiles = {{{3, 4}, {3, 4}}};
  CHECK_THROWS_AS(check_disjoint(plan_of({once, again})), Error);
  once.tiles.push_back({{0, 4}, {3, 4}});
  CHECK_THROWS_AS(check_disjoint(plan_of({once})), Error);
}

TEST_CASE("check_disjoint refuses tiles outside their orders, bad orders and overlapping rows") {
  Pass outside, twice, overlap, banded, heavy;
  outside.tiles = {{{0, 5}, {0, 1}}};
  twice.rows = {0, 0, 1, 2};
  overlap.tiles = {{{0, 2}, {0, 1}}, {{1, 3}, {2, 3}}};
  banded.query_level = banded.key_level = 1;
  banded.tiles = {{{0, 1}, {0, 1}, {.lo = 0}}};
  heavy.weight = {1, 2};
  for (const Pass& pass : {outside, twice, overlap, banded, heavy})
    CHECK_THROWS_AS(check_disjoint(plan_of({pass})), Error);
}
