// The list of presets that `fovea render --preset list` prints.
#pragma once

#include <ostream>

namespace fovea {

void print_presets(std::ostream& out);

}  // namespace fovea
