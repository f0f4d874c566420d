// Settings of single views that others read: the numbers beside a pair, and colours.
#pragma once

#include "panels/error_kind.h"
#include "panels/panel.h"

namespace fovea {

ErrorKind error_kind(const ViewSettings& settings);
RankColour rank_colour(const ViewSettings& settings);

}  // namespace fovea
