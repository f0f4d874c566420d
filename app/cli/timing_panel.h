// The timing of one variant as a panel of a figure.
#pragma once

#include "panels/panel.h"

namespace fovea {

Panel timing_panel(const Computation& computation, const Computation& exact);

}  // namespace fovea
