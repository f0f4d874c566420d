// Settings over heads as a table for other programs.
#pragma once

#include <string>
#include <vector>

#include "sweep/pareto.h"

namespace fovea {

/// A heading, and a line for each setting that was measured on some head.
std::string to_csv(const std::vector<SettingSpread>& settings, const Quantity& x,
                   const Quantity& y);

}  // namespace fovea
