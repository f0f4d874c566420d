// Text that is written from right to left, beside text that is not.
#pragma once

#include <string>

namespace fovea {

/// Encloses text with Hebrew or Arabic letters in U+2068 and U+2069: otherwise a number beside the
/// text would be drawn on its other side. Returns other text as it is.
std::string isolated(const std::string& text);

}  // namespace fovea
