// The timing of one variant as a panel of a figure.
#pragma once

#include "evaluate/timed_runs.h"
#include "panels/panel.h"

namespace fovea {

Panel timing_panel(const Computation& computation, const MeasuredTime& time);

}  // namespace fovea
