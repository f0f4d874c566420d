// The sources, the compiler and the targets of this build.
#pragma once

#include <string>

namespace fovea {

/// "0.1.0"
std::string version_number();

/// Version, commit, compiler, back ends and Qt, a line each.
std::string version_text();

}  // namespace fovea
