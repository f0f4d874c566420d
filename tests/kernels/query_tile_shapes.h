// Shapes for each height of query tiles, which the test program chooses, as it does shapes().
#pragma once

#include "laws/cases.h"

namespace fovea::test {

const std::vector<Shape>& query_tile_shapes();

}  // namespace fovea::test
