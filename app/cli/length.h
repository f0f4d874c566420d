// Lengths on paper as people write them.
#pragma once

#include <string>

namespace fovea {

/// "3.5in", "88 mm", "252pt", "1200px": points, 1/72 in; px are 1/dpi in. Throws UsageError that
/// names the option.
double points_of(const std::string& option, const std::string& text, int dpi);

}  // namespace fovea
