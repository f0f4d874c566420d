// Reads lengths on paper from the command line.
#pragma once

#include <string>

namespace fovea {

/// Converts "3.5in", "88 mm", "252pt" or "1200px" to points (1/72 in); a pixel is 1/dpi in. Throws
/// UsageError with the name of the option.
double points_of(const std::string& option, const std::string& text, int dpi);

}  // namespace fovea
