// Tiles of an operator that has entries of P only as whole rectangles: pooled piece by piece, so
// that few of them are in memory together.
#pragma once

#include <functional>

#include "backend/operator.h"

namespace fovea {

/// Entries of some rows, in the columns that it was made for: [rows, columns].
using RowEntries = std::function<Matrix(IndexRange rows)>;
/// Makes one for some columns.
using ColumnEntries = std::function<RowEntries(IndexRange cols)>;

/// What Operator::tile returns. `entries` is asked for columns of whole pixels, at most
/// `most_columns` of them unless one pixel has more; then for at most 128 rows at a time, unless
/// entries are wanted themselves. Throws Cancelled.
Matrix tile_of_entries(IndexRange rows, IndexRange cols, const Pool& pool, Index most_columns,
                       const ColumnEntries& entries, Run& run);

}  // namespace fovea
