// The slope of a power law: how fast log y changes with log x.
#pragma once

#include <utility>
#include <vector>

namespace fovea {

/// The slope of the line of least squares through (log x, log y). At least two x differ.
double log_slope(const std::vector<std::pair<double, double>>& points);

}  // namespace fovea
