// EntryRows are the rows of P that a tile looks at: all of a range, or one of every row of pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/operator.h"

namespace fovea::cuda {

struct EntryRows {
  IndexRange range;                      // tokens
  std::vector<std::int32_t> drawn = {};  // some of them, ascending; empty: all of them

  Index size() const { return drawn.empty() ? range.size() : static_cast<Index>(drawn.size()); }
  /// The rows at `places`, a part of [0, size()).
  EntryRows part(IndexRange places) const;
};

/// What a tile of such a pooling looks at.
EntryRows entry_rows(IndexRange rows, const Pool& pool);

}  // namespace fovea::cuda
