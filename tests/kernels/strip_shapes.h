// Shapes for each height of strips, chosen by the program as shapes() are.
#pragma once

#include "laws/cases.h"

namespace fovea::test {

const std::vector<Shape>& strip_shapes();

}  // namespace fovea::test
