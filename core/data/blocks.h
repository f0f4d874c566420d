// How many blocks of tokens there are.
#pragma once

#include "data/matrix.h"

namespace fovea {

/// The number of blocks of `side` tokens that cover `tokens`; the last one may be shorter.
constexpr Index number_of_blocks(Index tokens, Index side) {
  return (tokens + side - 1) / side;
}

}  // namespace fovea
