// Shapes for each height of strips, which the test program chooses, as it does shapes().
#pragma once

#include "laws/cases.h"

namespace fovea::test {

const std::vector<Shape>& strip_shapes();

}  // namespace fovea::test
