// The panel of all heads of a source by two of their measures.
#pragma once

#include "analysis/head_measures.h"
#include "panels/panel.h"
#include "views/views.h"

namespace fovea {

struct HeadPoint {
  Index layer = 0, head = 0;
  double x = 0, y = 0;
};

/// The heads that have both measures.
struct HeadScatter {
  std::vector<HeadPoint> points;
  std::size_t x = 0, y = 0;  // places in head_measures()
  Index layers = 1;          // of the source
  std::string message = {};  // why there are no points
};

/// A dot for each head, of a stronger colour in later layers. Points of a layer are a curve, in the
/// order of x.
Panel make_panel(const HeadScatter& in);

}  // namespace fovea
