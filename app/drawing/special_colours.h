// SpecialColours are those beside a colour map's own: of numbers outside of the range, of masked
// pairs and of what is no number.
#pragma once

#include <limits>

#include "drawing/colormap.h"

namespace fovea {

/// What is among a raster's numbers.
struct RasterContents {
  // Of all that are neither NaN nor masked.
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool masked = false, not_a_number = false;
};
RasterContents contents_of(const Raster& raster);

/// Which of them there are.
struct SpecialColours {
  bool under = false, over = false, masked = false, not_a_number = false;

  void add(const SpecialColours& other);
};
SpecialColours special_colours_of(const RasterContents& contents, const ValueColours& colours);

}  // namespace fovea
