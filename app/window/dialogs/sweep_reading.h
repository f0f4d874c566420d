// A sweep's reading is one point in words.
#pragma once

#include <QString>

#include "figure/sweep_figure.h"

namespace fovea {

/// Empty when that point was not measured.
QString sweep_reading(const Sweep& sweep, const SweepSpot& spot);

}  // namespace fovea
