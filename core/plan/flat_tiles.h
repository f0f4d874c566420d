// FlatTiles are a TilePlan as plain arrays, which each back end cuts into strips of its own: the
// tiles of a pass in groups that have the same queries, and what its columns count in log2.
#pragma once

#include <vector>

#include "plan/plan.h"

namespace fovea {

/// Keys at column positions [cols.begin, cols.end) of a pass, which is never empty.
struct KeyRun {
  IndexRange cols;
  Band band;
};

/// Queries at row positions `rows`, and their keys: runs [first, last), which follow one another in
/// one softmax.
struct TileGroup {
  IndexRange rows;
  std::size_t first = 0, last = 0;
};

struct FlatPass {
  const Pass* pass = nullptr;     // in the plan
  std::vector<KeyRun> runs;       // in the order of the pass's tiles
  std::vector<TileGroup> groups;  // by ascending rows, which are equal for no two of them
  /// log2 of how often the column at each position counts: as its weight says, or once for each
  /// token of its cluster. Empty: all 0.
  std::vector<float> log2_weight;
  /// The same for each token of the cluster, as entries of P need it. Empty: all 0.
  std::vector<float> log2_pair_weight;

  /// The query cluster at a row position, the key cluster at a column position.
  Index row(Index p) const { return pass->rows.empty() ? p : pass->rows[p]; }
  Index col(Index p) const { return pass->cols.empty() ? p : pass->cols[p]; }
};

struct FlatTiles {
  Lengths lengths;
  std::vector<FlatPass> passes;    // as in the plan
  int query_top = 0, key_top = 0;  // highest levels of any pass
  bool mean_queries = false;       // a cluster's query is the mean of its queries, else its first
  bool own_sums = true;            // of rows; else the plan has estimates of them

  /// One tile of all tokens in sequence order, without weights, and rows that are divided by their
  /// own sums: each query can be evaluated alone, to the same bits.
  bool dense() const;
};

/// `plan` holds a TilePlan and outlives the result. O(tiles + columns).
FlatTiles flatten_tiles(const Plan& plan);

}  // namespace fovea
