// Consecutive tokens in blocks, for the formulas of variants that select them.
#pragma once

#include <algorithm>

#include "data/matrix.h"

namespace fovea::test {

struct Blocks {
  Index n, size;
  Index count() const { return (n + size - 1) / size; }
  Index begin(Index b) const { return b * size; }
  Index end(Index b) const { return std::min(n, (b + 1) * size); }
};

}  // namespace fovea::test
