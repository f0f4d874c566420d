// A TileList is FlatTiles in the form that the kernels read: query tiles, each with the runs of
// keys that it attends in one softmax.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "device/entry_rows.h"
#include "plan/flat_tiles.h"

namespace fovea::cuda {

/// Keys that a block takes at a time.
inline constexpr int kv_tile_keys = 64;

/// Up to 192 queries, which attend the keys of all runs but for what these leave out. A position p
/// of the query tile's order names the query cluster c = indices[rows + p] (c = p where rows < 0);
/// its query is row query_base + (c << query_shift) of Q's pyramid, its softmax state row
/// state_base + c.
struct QueryTile {
  std::int32_t first_row, row_count;  // positions
  std::int32_t rows;                  // where the order begins in `indices`; -1 means identity
  std::int32_t query_base, query_shift;
  std::int32_t state_base;
  std::int32_t first_run, last_run;  // of `runs`
  std::int32_t keys = 0;             // that the kernels go through (keys_of)
  /// The query tile has some of its queries' keys only. Its softmax states are rows state_base + r
  /// for its queries r = 0, 1, ..., and no other query tile's.
  bool part = false;
};

/// Keys at positions [begin, end): the cluster at p is indices[cols + p] (p where cols < 0), and
/// its key is row key_base + cluster of K's pyramid, its value that row of V's. A pair counts iff
/// the cluster of its row minus the cluster of its column is in [lo, hi], and its row is at one of
/// the positions [first_row, last_row) of the query tile's order.
struct ColumnRun {
  std::int32_t begin, end;
  std::int32_t cols;
  std::int32_t key_base, level;
  std::int32_t weight;  // log2 of the weight of position p is weights[weight + p]; -1 means all 0
  std::int32_t pair_weight;  // the same for each pair of tokens, for entries of P
  std::int32_t lo, hi;
  /// A pair does not count either if it meets in one of `rounds` Chunks, which begin at
  /// chunks[earlier]: those of the n queries, those of the n keys, and again for the next round.
  std::int32_t earlier, rounds;
  std::int32_t first_row = 0, last_row = std::numeric_limits<std::int32_t>::max();
};

/// Query tiles [first, last), no two of which share a query: they can run side by side.
struct QueryTileRange {
  Index first = 0, last = 0;
};

/// Tiles with the same row positions, whose keys follow one another in one softmax.
struct RowGroup {
  IndexRange rows;
  IndexRange runs;  // of TileList::group_runs
};

/// Passes over one order of queries whose row ranges are equal or disjoint, treated as one pass.
struct Layer {
  const std::vector<std::int32_t>* order;  // of the queries, in the plan; empty means identity
  int query_level = 0;
  std::int32_t rows = -1;        // where the order begins in `indices`
  std::vector<RowGroup> groups;  // by ascending rows
  Index round = 0;               // how many earlier layers hold queries of the same level
};

/// A plan for the device, to which orders and weights are uploaded once.
struct TileList {
  Lengths lengths;
  std::vector<Layer> layers;
  std::vector<ColumnRun> group_runs;
  std::vector<std::int32_t> indices;
  std::vector<float> weights;  // log2
  std::vector<std::int32_t> chunks;
  bool mean_queries = false;       // a cluster's query is the mean of its queries, else its first
  int query_top = 0, key_top = 0;  // highest levels
  bool dense = false;              // as FlatTiles::dense

  std::span<const ColumnRun> runs_of(const RowGroup& group) const {
    return std::span(group_runs)
        .subspan(static_cast<std::size_t>(group.runs.begin),
                 static_cast<std::size_t>(group.runs.size()));
  }
  /// One round at level 0 contains every query, so no state has to be kept between rounds.
  bool complete() const;
};

/// A query tile whose keys are divided among `parts` query tiles, from `first` on in the list.
struct DividedQueryTile {
  QueryTile whole;  // without runs
  std::int32_t first, parts;
};

/// Query tiles for the kernels.
struct QueryTileList {
  std::vector<QueryTile> tiles;
  std::vector<ColumnRun> runs;
  std::vector<QueryTileRange> rounds;          // one after another: a query may have a tile in each
  std::vector<DividedQueryTile> divided = {};  // in the order of the list
  Index part_states = 0;                       // state rows of parts, which follow all others

  std::span<const ColumnRun> runs_of(const QueryTile& tile) const {
    return std::span(runs).subspan(static_cast<std::size_t>(tile.first_run),
                                   static_cast<std::size_t>(tile.last_run - tile.first_run));
  }
  /// Where the query tile after `tile` begins, of which all parts are taken together.
  Index after(Index tile) const;
};

/// Query tiles that follow one another and have as many keys each.
struct EqualQueryTiles {
  std::int32_t keys, count;
};

/// Rows of the levels [0, level) of a pyramid over n tokens, one level after another.
inline Index pyramid_rows(Index n, int level) {
  Index rows = 0;
  for (int l = 0; l < level; ++l) rows += clusters(n, l);
  return rows;
}

/// `plan` holds a TilePlan, and outlives the list.
TileList tile_list(const Plan& plan);

/// All query tiles, of at most `height` queries each. Groups that follow one another share a tile
/// as long as they fit: their keys are taken once, each by the rows of the groups that have it.
QueryTileList cut_query_tiles(const TileList& list, int height);

/// Those of the queries `rows` of a dense list, whose states are numbered from rows.begin.
QueryTileList cut_query_tiles(const TileList& list, IndexRange rows, int height);

/// How many keys the query tiles have that would be cut.
std::vector<EqualQueryTiles> count_keys(const TileList& list, int height);
std::vector<EqualQueryTiles> count_keys(const TileList& list, IndexRange rows, int height);

/// What is needed for a rectangle of P: query tiles of tokens, whatever the level of their queries,
/// with the keys that lie in its columns.
struct EntryList {
  std::vector<QueryTile> tiles;           // their orders name tokens
  std::vector<std::int32_t> query_level;  // [query tiles]
  std::vector<ColumnRun> runs;
  std::vector<std::int32_t> tokens;  // orders of the query tiles; their offsets count from here
};

EntryList cut_entries(const TileList& list, const EntryRows& rows, IndexRange cols, int height);

}  // namespace fovea::cuda
