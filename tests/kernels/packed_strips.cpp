// Strips of several groups of queries, whose keys are taken once.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "kernels/strip_pairs.h"
#include "laws/cases.h"
#include "reference.h"
#include "tiles/divided_strips.h"
#include "tiles/tile_list.h"

using namespace fovea;
using namespace fovea::cuda;
using namespace fovea::test;

namespace {

const Backend& cpu() {
  static const std::unique_ptr<Backend> made = make_cpu_backend();
  return *made;
}

/// A list of one layer in sequence order, whose groups have runs without bands.
struct Group {
  IndexRange rows;
  std::vector<IndexRange> keys;
};
TileList list_of(Index n, const std::vector<Group>& groups) {
  static const std::vector<std::int32_t> sequence;
  TileList list{.lengths = {n, n}};
  Layer& layer = list.layers.emplace_back(Layer{.order = &sequence});
  for (const Group& group : groups) {
    RowGroup& added = layer.groups.emplace_back(RowGroup{group.rows, {}});
    for (const IndexRange keys : group.keys) {
      added.runs.push_back(static_cast<std::int32_t>(list.group_runs.size()));
      list.group_runs.push_back({.begin = static_cast<std::int32_t>(keys.begin),
                                 .end = static_cast<std::int32_t>(keys.end),
                                 .cols = -1,
                                 .key_base = 0,
                                 .level = 0,
                                 .weight = -1,
                                 .pair_weight = -1,
                                 .lo = -static_cast<std::int32_t>(Band::unbounded),
                                 .hi = static_cast<std::int32_t>(Band::unbounded),
                                 .earlier = 0,
                                 .rounds = 0});
    }
  }
  return list;
}

/// Begin, end, first and last row of each run of a strip.
std::vector<std::array<std::int32_t, 4>> runs_of(const StripList& list, const Strip& strip) {
  std::vector<std::array<std::int32_t, 4>> out;
  for (std::int32_t r = strip.first_run; r < strip.last_run; ++r)
    out.push_back(
        {list.runs[r].begin, list.runs[r].end, list.runs[r].first_row, list.runs[r].last_row});
  return out;
}

using Runs = std::vector<std::array<std::int32_t, 4>>;

}  // namespace

TEST_CASE("strips: groups that follow one another share one, and a key that they share is one") {
  // Blocks of 16 queries, which attend themselves and their neighbours.
  const TileList list = list_of(64, {{{0, 16}, {{0, 32}}},
                                     {{16, 32}, {{0, 48}}},
                                     {{32, 48}, {{16, 64}}},
                                     {{48, 64}, {{32, 64}}}});
  const StripList whole = cut_strips(list, 64);
  REQUIRE(whole.strips.size() == 1);
  CHECK(whole.strips[0].first_row == 0);
  CHECK(whole.strips[0].row_count == 64);
  CHECK(runs_of(whole, whole.strips[0]) ==
        Runs{{0, 16, 0, 32}, {16, 32, 0, 48}, {32, 48, 16, 64}, {48, 64, 32, 64}});
  CHECK(keys_of(whole.strips[0], whole.runs) == 64);

  const StripList low = cut_strips(list, 16);
  REQUIRE(low.strips.size() == 4);
  for (const Strip& strip : low.strips) CHECK(strip.row_count == 16);
  CHECK(runs_of(low, low.strips[2]).size() == 1);
}

TEST_CASE("strips: rows that do not follow one another are not in one run, nor in one strip") {
  const TileList apart = list_of(
      64,
      {{{0, 10}, {{0, 8}}}, {{10, 20}, {{20, 28}}}, {{20, 30}, {{0, 8}}}, {{40, 50}, {{0, 8}}}});
  const StripList cut = cut_strips(apart, 64);
  REQUIRE(cut.strips.size() == 2);
  CHECK(runs_of(cut, cut.strips[0]) == Runs{{0, 8, 0, 10}, {0, 8, 20, 30}, {20, 28, 10, 20}});
  CHECK(cut.strips[1].first_row == 40);
}

TEST_CASE("strips: a key that a group has twice counts twice") {
  const StripList cut =
      cut_strips(list_of(16, {{{0, 8}, {{0, 6}, {4, 8}}}, {{8, 16}, {{0, 6}}}}), 16);
  Pairs pairs;
  add_pairs(cut.strips.front(), cut.runs, pairs);
  CHECK(pairs.size() == 8 * 8 + 8 * 6);
  CHECK(pairs[{-1, 3, 0, -1, 4, -1}] == 2);
  CHECK(pairs[{-1, 9, 0, -1, 4, -1}] == 1);
}

TEST_CASE("strips: a group of many queries is cut, and the rest of it shares a strip") {
  const StripList cut =
      cut_strips(list_of(200, {{{0, 130}, {{0, 100}}}, {{130, 150}, {{50, 120}}}}), 64);
  REQUIRE(cut.strips.size() == 3);
  CHECK(cut.strips[0].first_run == cut.strips[1].first_run);  // of the same runs
  CHECK(cut.strips[2].first_row == 128);
  CHECK(cut.strips[2].row_count == 22);
  CHECK(runs_of(cut, cut.strips[2]) ==
        Runs{{0, 50, 128, 130}, {50, 100, 128, 150}, {100, 120, 130, 150}});
}

TEST_CASE("strips: of every variant have the pairs of its groups, each as often, at any height") {
  for (const Case& c : all_cases())
    for (const bool causal : masks_of(c)) {
      CAPTURE(describe(c));
      CAPTURE(causal);
      const Problem problem = make_data(Data::gaussian, 300, 4, 3, causal, c.head);
      const auto plan = make_plan(cpu(), problem, c.id, c.settings);
      if (!std::holds_alternative<TilePlan>(plan->form)) continue;
      const TileList tiles = tile_list(*plan);
      Pairs expected;
      Index rows = 0;
      for (const Layer& layer : tiles.layers)
        for (const RowGroup& group : layer.groups) {
          rows += group.rows.size();
          for (const std::int32_t r : group.runs)
            add_pairs(layer.rows, group.rows.begin, group.rows.end, tiles.group_runs[r], expected);
        }
      for (const int height : {16, 64, 128}) {
        CAPTURE(height);
        const StripList cut = cut_strips(tiles, height);
        Pairs found;
        Index found_rows = 0;
        for (const Strip& strip : cut.strips) {
          CHECK(strip.row_count <= height);
          found_rows += strip.row_count;
          add_pairs(strip, cut.runs, found);
        }
        CHECK(found_rows == rows);
        CHECK(found == expected);
      }
    }
}

TEST_CASE("strips: four leaves of h1d are one of 64 queries, with two steps of keys at most") {
  const Problem problem = make_data(Data::gaussian, 2048, 4, 3, false);
  const TileList tiles = tile_list(*make_plan(cpu(), problem, "h1d", {{"block", "16"}}));
  const StripList packed = cut_strips(tiles, 64), single = cut_strips(tiles, 16);
  Index most = 0;
  for (const Strip& strip : packed.strips) most = std::max(most, keys_of(strip, packed.runs));
  CHECK(most <= 128);
  CHECK(single.strips.size() >= 3 * packed.strips.size());
}
