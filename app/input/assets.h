// Where the bundled examples lie.
#pragma once

#include <string>

namespace fovea {

/// Beside the executable, under an installation's share/fovea, or in the source tree; empty:
/// nowhere.
std::string assets_directory();

/// What the window opens when nothing is named: a real head, or a synthetic one without assets.
std::string standard_example();

}  // namespace fovea
