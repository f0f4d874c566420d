// The axes of a SeriesPlot: logarithmic, of amounts in its units.
#pragma once

#include "drawing/axes.h"

namespace fovea::drawing {

/// `size` is about how large the plot will be.
Axes series_axes(const SeriesPlot& plot, Point size, const Lettering& letters);

}  // namespace fovea::drawing
