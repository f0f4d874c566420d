// A TokenOrder puts the tokens of a picture or a video in another order: along a space-filling
// curve, or tile by tile. Neighbours in the picture are then neighbours in the order, so that
// blocks of tokens hold more of the attention.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "variants/token_grid.h"

namespace fovea {

struct TokenOrder : GridParameters, TileSizes {
  enum class Path { hilbert, tiles };

  Path path = Path::hilbert;

  static std::vector<TypedField<TokenOrder>> fields();
};

/// The parameters, the path first.
const Schema& order_schema();

/// "hilbert", "tiles,tile_rows=4,height=30,width=45": the path, then parameters with other values
/// than `standard`. Throws UsageError for what is none.
Values parse_order(const std::string& text, Values standard);
std::string order_text(const Values& values, const Values& standard);

TokenOrder order_of(const Values& values);

/// The token at each position. A text stays where it is.
std::vector<std::int32_t> tokens_in_order(const TokenOrder& order, Index n);

/// The place of a cell along the Hilbert curve through a cube of 2^bits cells a side with this
/// number of axes, 2 or 3; `bits` is at most 20. Skilling 2004, Programming the Hilbert curve.
std::uint64_t hilbert_place(std::array<std::uint32_t, 3> cell, int axes, int bits);

}  // namespace fovea
