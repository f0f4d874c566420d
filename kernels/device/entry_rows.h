// EntryRows are the rows of P that a tile needs: all of a range, or one for each row of pixels.
#pragma once

#include <cstdint>
#include <vector>

#include "backend/operator.h"

namespace fovea::cuda {

struct EntryRows {
  IndexRange range;                      // tokens
  std::vector<std::int32_t> drawn = {};  // some of them, ascending; empty means all of them

  Index size() const { return drawn.empty() ? range.size() : static_cast<Index>(drawn.size()); }
  /// The rows at `places`, a part of [0, size()).
  EntryRows part(IndexRange places) const;
};

/// The rows that a tile with this pooling needs.
EntryRows entry_rows(IndexRange rows, const Pool& pool);

}  // namespace fovea::cuda
