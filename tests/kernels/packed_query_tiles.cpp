// Query tiles of several groups of queries, whose keys are taken once.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>

#include "kernels/other_backends.h"
#include "kernels/query_tile_pairs.h"
#include "laws/cases.h"
#include "reference.h"
#include "tiles/divided_query_tiles.h"
#include "tiles/tile_list.h"

using namespace fovea;
using namespace fovea::cuda;
using namespace fovea::test;

namespace {

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
    const Index first = std::ssize(list.group_runs);
    layer.groups.push_back({group.rows, {first, first + std::ssize(group.keys)}});
    for (const IndexRange keys : group.keys)
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
  return list;
}

/// Begin, end, first and last row of each run of a query tile.
std::vector<std::array<std::int32_t, 4>> runs_of(const QueryTileList& list, const QueryTile& tile) {
  std::vector<std::array<std::int32_t, 4>> out;
  for (std::int32_t r = tile.first_run; r < tile.last_run; ++r)
    out.push_back(
        {list.runs[r].begin, list.runs[r].end, list.runs[r].first_row, list.runs[r].last_row});
  return out;
}

using Runs = std::vector<std::array<std::int32_t, 4>>;

}  // namespace

TEST_CASE(
    "query tiles: groups that follow one another share one, and a key that they share is one") {
  // Blocks of 16 queries, which attend themselves and their neighbours.
  const TileList list = list_of(64, {{{0, 16}, {{0, 32}}},
                                     {{16, 32}, {{0, 48}}},
                                     {{32, 48}, {{16, 64}}},
                                     {{48, 64}, {{32, 64}}}});
  const QueryTileList whole = cut_query_tiles(list, 64);
  REQUIRE(whole.tiles.size() == 1);
  CHECK(whole.tiles[0].first_row == 0);
  CHECK(whole.tiles[0].row_count == 64);
  CHECK(runs_of(whole, whole.tiles[0]) ==
        Runs{{0, 16, 0, 32}, {16, 32, 0, 48}, {32, 48, 16, 64}, {48, 64, 32, 64}});
  CHECK(whole.tiles[0].keys == 64);

  const QueryTileList low = cut_query_tiles(list, 16);
  REQUIRE(low.tiles.size() == 4);
  for (const QueryTile& tile : low.tiles) CHECK(tile.row_count == 16);
  CHECK(runs_of(low, low.tiles[2]).size() == 1);
}

TEST_CASE(
    "query tiles: rows that do not follow one another are not in one run, nor in one query tile") {
  const TileList apart = list_of(
      64,
      {{{0, 10}, {{0, 8}}}, {{10, 20}, {{20, 28}}}, {{20, 30}, {{0, 8}}}, {{40, 50}, {{0, 8}}}});
  const QueryTileList cut = cut_query_tiles(apart, 64);
  REQUIRE(cut.tiles.size() == 2);
  CHECK(runs_of(cut, cut.tiles[0]) == Runs{{0, 8, 0, 10}, {0, 8, 20, 30}, {20, 28, 10, 20}});
  CHECK(cut.tiles[1].first_row == 40);
}

TEST_CASE("query tiles: a key that a group has twice counts twice") {
  const QueryTileList cut =
      cut_query_tiles(list_of(16, {{{0, 8}, {{0, 6}, {4, 8}}}, {{8, 16}, {{0, 6}}}}), 16);
  Pairs pairs;
  add_pairs(cut.tiles.front(), cut.runs, pairs);
  CHECK(pairs.size() == 8 * 8 + 8 * 6);
  CHECK(pairs[{-1, 3, 0, -1, 4, -1}] == 2);
  CHECK(pairs[{-1, 9, 0, -1, 4, -1}] == 1);
}

TEST_CASE("query tiles: a group of many queries is cut, and the rest of it shares a query tile") {
  const QueryTileList cut =
      cut_query_tiles(list_of(200, {{{0, 130}, {{0, 100}}}, {{130, 150}, {{50, 120}}}}), 64);
  REQUIRE(cut.tiles.size() == 3);
  CHECK(cut.tiles[0].first_run == cut.tiles[1].first_run);  // of the same runs
  CHECK(cut.tiles[2].first_row == 128);
  CHECK(cut.tiles[2].row_count == 22);
  CHECK(runs_of(cut, cut.tiles[2]) ==
        Runs{{0, 50, 128, 130}, {50, 100, 128, 150}, {100, 120, 130, 150}});
}

TEST_CASE(
    "query tiles: of every variant have the pairs of its groups, each as often, at any height") {
  for_each_tile_list(cpu(), [](const TileList& tiles) {
    Pairs expected;
    Index rows = 0;
    for (const Layer& layer : tiles.layers)
      for (const RowGroup& group : layer.groups) {
        rows += group.rows.size();
        for (const ColumnRun& run : tiles.runs_of(group))
          add_pairs(layer.rows, group.rows.begin, group.rows.end, run, expected);
      }
    for (const int height : {16, 64, 128, 192}) {
      CAPTURE(height);
      const QueryTileList cut = cut_query_tiles(tiles, height);
      Pairs found;
      Index found_rows = 0;
      for (const QueryTile& tile : cut.tiles) {
        CHECK(tile.row_count <= height);
        found_rows += tile.row_count;
        add_pairs(tile, cut.runs, found);
      }
      std::vector<std::int32_t> keys, counted;
      for (const QueryTile& tile : cut.tiles) keys.push_back(tile.keys);
      for (const EqualQueryTiles& each : count_keys(tiles, height))
        counted.insert(counted.end(), static_cast<std::size_t>(each.count), each.keys);
      CHECK(counted == keys);
      CHECK(found_rows == rows);
      CHECK(found == expected);
    }
  });
}

TEST_CASE("query tiles: four leaves of h1d are one of 64 queries, with two KV tiles at most") {
  const Problem problem = make_data(Data::gaussian, 2048, 4, 3, false);
  const TileList tiles = tile_list(*make_plan(cpu(), problem, "h1d", {{"block", "16"}}));
  const QueryTileList packed = cut_query_tiles(tiles, 64), single = cut_query_tiles(tiles, 16);
  Index most = 0;
  for (const QueryTile& tile : packed.tiles) most = std::max<Index>(most, tile.keys);
  CHECK(most <= 128);
  CHECK(single.tiles.size() >= 3 * packed.tiles.size());
}
