// Wrong rows are those of a result whose errors rounding does not explain. Where they lie tells
// what went wrong: a last tile, rows beyond an index, one row of each tile.
#pragma once

#include <string>
#include <vector>

#include "data/matrix.h"

namespace fovea {

/// "all 40 rows", "row 7", "rows 32 to 47", "rows 16 to 63, the last 48", "every 16th row from 15
/// on", "rows 56 to 63 of every 64", "12 of 64 rows, the first is row 7". The rows ascend; `all` is
/// the number of rows there are. Empty without rows. With `of` " of tiles" they are rows
/// of tiles: "every 4th row of tiles from 2 on".
std::string place_text(const std::vector<Index>& rows, Index all, const std::string& of = {});

}  // namespace fovea
