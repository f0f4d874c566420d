// The runs of a query tile of several groups of queries: a key that more than one of them has is in
// one run, if the rows of these groups follow one another.
#pragma once

#include <vector>

#include "tiles/tile_list.h"

namespace fovea::cuda {

/// Rows of a group that are in one query tile.
struct Piece {
  const RowGroup* group;
  IndexRange rows;
};

/// Appends the runs of pieces whose rows follow one another to `out`. Each has the rows of its
/// groups.
void append_joined_runs(const TileList& list, const std::vector<Piece>& pieces,
                        std::vector<ColumnRun>& out);

}  // namespace fovea::cuda
