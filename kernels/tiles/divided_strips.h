// Strips whose keys are divided among several blocks, so that few queries with many keys keep the
// whole device busy.
#pragma once

#include "tiles/tile_list.h"

namespace fovea::cuda {

/// How many keys the kernels go through for a strip, without those that lie beyond the bands of all
/// its queries.
Index keys_of(const Strip& strip, const std::vector<ColumnRun>& runs);

/// Sorts the strips of each round by their keys, so that the device does not begin a long one last.
void put_longest_first(StripList& list);

/// Divides the keys of the strips that have more than `most_keys`, into parts of about the same
/// size, multiples of `step`. The states of the parts begin at row `states`.
void divide_strips(StripList& list, Index most_keys, Index step, Index states);

}  // namespace fovea::cuda
