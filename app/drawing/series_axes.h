// The axes of a SeriesPlot: logarithmic, of amounts in its units.
#pragma once

#include "drawing/axes.h"

namespace fovea::drawing {

/// `size` is about how large the plot will be.
Axes series_axes(const SeriesPlot& plot, Point size, const Lettering& letters);

/// Where a point stands. Beyond an end of an axis that is given, it stands at the edge of the plot.
struct SeriesPlace {
  Point at;
  int beyond_x = 0, beyond_y = 0;  // -1: below the low end, 1: above the high end

  bool is_beyond() const { return beyond_x != 0 || beyond_y != 0; }
};
SeriesPlace place_of(const SeriesPlot::Point& point, const SeriesPlot& plot, const Plot& where);

}  // namespace fovea::drawing
