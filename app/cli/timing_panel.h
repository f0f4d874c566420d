// The timing of one variant as a panel of a figure.
#pragma once

#include "panels/panel.h"
#include "sweep/timed_runs.h"

namespace fovea {

Panel timing_panel(const Computation& computation, const MeasuredTime& time);

}  // namespace fovea
