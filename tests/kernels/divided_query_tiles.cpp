// Query tiles whose keys are divided among blocks.
#include "tiles/divided_query_tiles.h"

#include <cuda_runtime.h>
#include <doctest/doctest.h>

#include <cmath>
#include <map>

#include "backend/backends.h"
#include "kernels/hopper.h"
#include "kernels/other_backends.h"
#include "kernels/query_tile_pairs.h"
#include "laws/cases.h"
#include "reference.h"
#include "tiles/resident_query_tiles.h"

using namespace fovea;
using namespace fovea::cuda;
using namespace fovea::test;

namespace {

/// The last queries of a head.
Problem last_queries(Lengths lengths, bool causal, Index dv = 5) {
  Problem problem = make_data(Data::gaussian, lengths.keys, 6, dv, causal);
  problem.q = problem.q.slice({lengths.keys - lengths.queries, lengths.keys});
  return problem;
}

double largest_difference(MatrixView a, MatrixView b) {
  REQUIRE(a.rows == b.rows);
  double worst = 0;
  for (Index i = 0; i < a.rows; ++i)
    for (Index c = 0; c < a.cols; ++c)
      worst = larger_error(worst, std::abs(double{a(i, c)} - double{b(i, c)}));
  return worst;
}

}  // namespace

TEST_CASE("query tiles: the parts of a query tile have its pairs, each once") {
  for_each_tile_list(cpu(), [](const TileList& tiles) {
    const QueryTileList whole = cut_query_tiles(tiles, 16);
    for (const Index most : {64, 100, 128}) {
      QueryTileList list = whole;
      put_longest_first(list);
      divide_query_tiles(list, most, 64, 1000);
      REQUIRE(list.rounds.size() == whole.rounds.size());
      Index states = 1000;
      for (const DividedQueryTile& divided : list.divided) {
        CHECK(divided.parts > 1);
        for (Index s = divided.first; s < divided.first + divided.parts; ++s) {
          CHECK(list.tiles[s].part);
          CHECK(list.tiles[s].state_base == states);
          states += list.tiles[s].row_count;
        }
      }
      CHECK(states == 1000 + list.part_states);
      for (std::size_t r = 0; r < whole.rounds.size(); ++r) {
        Pairs before, after;
        for (Index s = whole.rounds[r].first; s < whole.rounds[r].last; ++s)
          add_pairs(whole.tiles[s], whole.runs, before);
        for (Index s = list.rounds[r].first; s < list.rounds[r].last; ++s) {
          CHECK(list.tiles[s].keys == keys_of(list.tiles[s], list.runs_of(list.tiles[s])));
          CHECK(list.tiles[s].keys <= (most + 63) / 64 * 64);
          add_pairs(list.tiles[s], list.runs, after);
        }
        CHECK(before == after);
      }
      Index units = 0;
      for (Index s = 0; s < std::ssize(list.tiles); s = list.after(s)) ++units;
      CHECK(units == std::ssize(whole.tiles));
    }
  });
}

TEST_CASE("query tiles: the longest of a round come first") {
  const Problem problem = make_data(Data::gaussian, 300, 4, 3, true);
  QueryTileList list = cut_query_tiles(tile_list(*make_plan(cpu(), problem, "exact", {})), 16);
  put_longest_first(list);
  CHECK(list.tiles.front().first_row == 288);
  CHECK(list.tiles.back().first_row == 0);
}

TEST_CASE("query tiles: few queries whose keys are divided have the CPU's results") {
  const Multiprocessors many(132);
  for (const char* precision : {"fp32", "bf16"}) {
    std::string why_not;
    const auto backend = make_cuda_backend({.precision = precision}, &why_not);
    REQUIRE(backend);
    for (const Lengths lengths : {Lengths{1, 700}, {20, 1100}, {150, 600}})
      for (const bool causal : {false, true})
        for (const Index dv : {5, 150}) {
          CAPTURE(precision);
          CAPTURE(lengths.text());
          CAPTURE(causal);
          CAPTURE(dv);
          const Problem problem = last_queries(lengths, causal, dv);
          const auto plan = make_plan(cpu(), problem, "exact", {});
          const Device device;
          const bool fp32 = std::string(precision) == "fp32";
          const ResidentQueryTiles tiles(tile_list(*plan), 6, dv,
                                         fp32 ? Precision::fp32 : Precision::bf16, false, device);
          if (Multiprocessors::are_chosen) CHECK(!tiles.list.divided.empty());
          const Instance ours = make_instance(*backend, problem, "exact", {}),
                         theirs = make_instance(cpu(), problem, "exact", {});
          // As in against_cpu.cpp; bf16 rounds Q, K, V and the weights by 2^-9.
          const double unit = 0x1p-23 * (8 + 4 * largest_logit(problem)) + 1100 * 0x1p-23,
                       rounding = fp32 ? unit : 0x1p-9 * (8 + 4 * (largest_logit(problem) + 3));
          const Output a = ours.apply(problem.v), b = theirs.apply(problem.v);
          CHECK(largest_difference(a.z, b.z) <= 5 * rounding);  // values are below 5
          double worst = 0;
          for (std::size_t i = 0; i < a.lse.size(); ++i)
            worst = larger_error(worst, std::abs(double{a.lse[i]} - double{b.lse[i]}));
          CHECK(worst <= 8 * rounding);
          const IndexRange rows{lengths.queries / 3, lengths.queries}, cols{100, 500};
          CHECK(largest_difference(ours.tile(rows, cols), theirs.tile(rows, cols)) <= 2 * unit);
          const Pool drawn{Pool::Kind::max, rows.size() / 4 + 1, 10, 3};
          CHECK(largest_difference(
                    make_instance(*backend, problem, "exact", {}).tile(rows, cols, drawn),
                    theirs.tile(rows, cols, drawn)) <= 2 * unit);
          if (lengths.queries < 20) continue;
          // The sums of some rows are kept when those of others are found.
          const Instance once = make_instance(*backend, problem, "exact", {});
          const Matrix first = once.tile({0, 5}, cols), again = once.tile({0, 20}, cols);
          CHECK(largest_difference(first, again.view().slice({0, 5})) == 0);
          for (const Index pixel : {10, 70}) {
            const IndexRange some{pixel * (lengths.queries / pixel / 2), lengths.queries};
            const RowsOutput x = ours.apply_rows(some, pixel), y = theirs.apply_rows(some, pixel);
            CHECK(largest_difference(x.output.z, y.output.z) <= 5 * rounding);
            // In 16 bits these are of Z's own logits; weights are at most 1.
            const double of_maps = fp32 ? 2 * unit : rounding;
            CHECK(largest_difference(x.most, y.most) <= of_maps);
            CHECK(largest_difference(x.mean, y.mean) <= of_maps);
          }
        }
  }
}

TEST_CASE("query tiles: every variant on a device that divides its longest query tiles") {
  const Multiprocessors many(132);
  std::string why_not;
  const auto backend = make_cuda_backend({}, &why_not);
  REQUIRE(backend);
  std::map<std::string, int> seen;
  for (const Case& c : all_cases()) {
    if (++seen[c.id] > 2) continue;
    CAPTURE(describe(c));
    const Problem problem = make_data(Data::gaussian, 600, 4, 3, masks_of(c).back(), c.head);
    const Instance theirs = make_instance(cpu(), problem, c.id, c.settings),
                   ours =
                       make_instance(*backend, problem, c.id, c.settings, theirs.plan->structure);
    const double unit = 0x1p-23 * (8 + 4 * largest_logit(problem)) + 600 * 0x1p-23;
    const double mass = c.rows_sum_to_one ? 2 : 600;
    CHECK(largest_difference(ours.apply(problem.v).z, theirs.apply(problem.v).z) <=
          5 * mass * unit);
  }
}
