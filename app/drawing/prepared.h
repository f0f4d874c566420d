// A PreparedPanel holds what the drawing of a panel needs and finds once, however often the panel
// is drawn.
#pragma once

#include <vector>

#include "drawing/special_colours.h"

namespace fovea::drawing {

/// Leaves as they are drawn.
struct LeafOrder {
  std::size_t count = 0;
  Index most = 0;           // tokens of one kind in the largest leaf
  Index keys = 0;           // of all leaves
  std::vector<Index> sums;  // tokens before each leaf, both kinds [count + 1]
  std::vector<Index> sorted_queries, sorted_keys;  // descending
};

struct PreparedPanel {
  /// The panel must outlive it.
  explicit PreparedPanel(const Panel& panel);

  const Panel* panel;
  RasterContents contents;  // of a raster
  LeafOrder leaves;
};

}  // namespace fovea::drawing
