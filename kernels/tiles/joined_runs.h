// The runs of a query tile of several groups of queries: a key that more than one of them has is in
// one run, if the rows of these groups follow one another.
#pragma once

#include <span>
#include <vector>

#include "tiles/tile_list.h"

namespace fovea::cuda {

/// Rows of a group that are in one query tile.
struct Piece {
  const RowGroup* group;
  IndexRange rows;
};

class JoinedRuns {
 public:
  /// `list` outlives this.
  explicit JoinedRuns(const TileList& list) : list_(list) {}

  /// Those of pieces whose rows follow one another, each with the rows of its groups. The next call
  /// overwrites them.
  std::span<const ColumnRun> of(const std::vector<Piece>& pieces);

 private:
  void join(std::span<const ColumnRun> runs);

  const TileList& list_;
  std::vector<ColumnRun> runs_, joined_, here_;
};

}  // namespace fovea::cuda
