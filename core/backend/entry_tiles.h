// Tiles of an operator that makes entries of P only as whole rectangles. They are pooled piece by
// piece, so that few entries are in memory together.
#pragma once

#include <functional>

#include "backend/operator.h"

namespace fovea {

/// Makes entries of some rows, in the columns that it was made for: [rows, columns].
using RowEntries = std::function<Matrix(IndexRange rows)>;
/// Makes a RowEntries for some columns.
using ColumnEntries = std::function<RowEntries(IndexRange cols)>;

/// The result of Operator::tile. `entries` is asked for columns of whole pixels, at most
/// `most_columns` of them unless one pixel has more; the result for at most 128 rows at a time,
/// unless single entries are wanted. Throws Cancelled.
Matrix tile_of_entries(IndexRange rows, IndexRange cols, const Pool& pool, Index most_columns,
                       const ColumnEntries& entries, Run& run);

/// The same for an operator that needs no more than a rectangle to make its entries.
Matrix tile_of_entries(IndexRange rows, IndexRange cols, const Pool& pool,
                       const std::function<Matrix(IndexRange rows, IndexRange cols)>& entries,
                       Run& run);

}  // namespace fovea
