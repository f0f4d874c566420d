#include "figure/special_colours.h"

#include <algorithm>
#include <cmath>

namespace fovea {

RasterContents contents_of(const Raster& raster) {
  RasterContents out;
  for (Index r = 0; r < raster.values.rows(); ++r)
    for (Index c = 0; c < raster.values.cols(); ++c) {
      const double value = raster.values(r, c);
      if (std::isnan(value)) {
        out.not_a_number = true;
      } else if (std::isinf(value) && value < 0) {
        out.masked = true;
      } else {
        out.low = std::min(out.low, value);
        out.high = std::max(out.high, value);
      }
    }
  return out;
}

void SpecialColours::add(const SpecialColours& other) {
  under |= other.under;
  over |= other.over;
  masked |= other.masked;
  not_a_number |= other.not_a_number;
}

SpecialColours special_colours_of(const RasterContents& contents, const ValueColours& colours) {
  SpecialColours out{.masked = contents.masked, .not_a_number = contents.not_a_number};
  if (colours.palette == Palette::categories || contents.low > contents.high) return out;
  const auto place = [&](double value) {
    return normalised(value, colours.low, colours.high, colours.norm, colours.log_floor);
  };
  out.under = place(contents.low) < -1e-4;  // as ValueColours::colour has it
  out.over = place(contents.high) > 1 + 1e-4;
  return out;
}

}  // namespace fovea
