// Pixels of maps: those of long heads come from a MapPyramid.
#include <algorithm>
#include <cmath>
#include <limits>

#include "views/parts.h"

namespace fovea::views {
namespace {

// Typical error of an estimated pixel, relative to a typical pixel: both as root mean squares.
double relative_error(const MapPicture& picture) {
  double errors = 0, values = 0;
  for (Index r = 0; r < picture.values.rows(); ++r)
    for (Index c = 0; c < picture.values.cols(); ++c) {
      const auto e = static_cast<double>(picture.standard_error(r, c)),
                 v = static_cast<double>(picture.values(r, c));
      if (!(e > 0) || !std::isfinite(v)) continue;
      errors += e * e;
      values += v * v;
    }
  return values > 0 ? std::sqrt(errors / values) : 0;
}

}  // namespace

MapView view_of(const PanelInputs& in) {
  return map_view(in.rows, in.cols, in.max_pixels);
}

Grid grid_of(const PanelInputs& in) {
  return in.map ? Grid(view_of(in)) : Grid(in.rows, in.cols, in.max_pixels);
}

MapPyramid::Pixels take_picture(const MapPyramid& map, const PanelInputs& in, Raster& raster,
                                std::string& caption) {
  MapPicture picture = map.picture(view_of(in));
  if (picture.estimated > 0) {
    std::string text = "estimate from " + std::to_string(map.estimated_from()) + " of " +
                       std::to_string(map.overview_pixel()) + " rows";
    if (map.kind() == Pool::Kind::max)
      text += ": a lower bound";
    else if (!picture.standard_error.empty() && map.estimated_from() > 1)
      text += " ± " + format_percent(relative_error(picture));
    add(caption, text);
    if (picture.estimated < 1) add(caption, format_percent(1 - picture.estimated) + " exact");
  }
  if (picture.rounded) add(caption, "logits of 16-bit factors");
  raster.standard_error = std::move(picture.standard_error);
  raster.complete = picture.complete;
  raster.estimated = picture.estimated;
  // What was not seen may be larger than the largest of an estimate.
  if (picture.estimated > 0) picture.largest = {};
  return {std::move(picture.values), std::move(picture.largest)};
}

}  // namespace fovea::views
