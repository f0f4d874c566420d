// What a pixel of a map of two-hop reach says, in words.
#pragma once

#include <string>

#include "panels/panel.h"

namespace fovea {

/// "reached through 3 keys", "not reached in two layers"; for a pixel over several pairs "reached
/// through at most 3 keys", or "... 1.5 keys" if it is their mean. `value` is a number >= 0 of a
/// raster of the view of two-hop reach.
std::string reach_text(const Raster& raster, double value);

}  // namespace fovea
