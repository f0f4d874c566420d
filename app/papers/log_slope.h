// The slope of a power law: how fast log y changes with log x.
#pragma once

#include <utility>
#include <vector>

namespace fovea {

/// Of the line of least squares through (log x, log y); at least two x that differ.
double log_slope(const std::vector<std::pair<double, double>>& points);

}  // namespace fovea
