#include "views/reach_text.h"

#include "data/number_text.h"
#include "panels/pooling_text.h"

namespace fovea {

std::string reach_text(const Raster& raster, double value) {
  const bool one_pair = pooling_text(raster).empty();
  if (!(value > 0))
    return one_pair ? raster.under_name : "no pair of the pixel is reached in two layers";
  const bool largest = !one_pair && raster.pooled == Pool::Kind::max;
  return std::string("reached through ") + (largest ? "at most " : "") + format_drawn(value) +
         (value == 1 ? " key" : " keys");
}

}  // namespace fovea
