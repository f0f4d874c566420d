// Text that is written from right to left, beside text that is not.
#pragma once

#include <string>

namespace fovea {

/// Text with Hebrew or Arabic letters, kept apart from what stands before and behind it (U+2068 and
/// U+2069): else a number beside it would be drawn on its other side. Other text as it is.
std::string isolated(const std::string& text);

}  // namespace fovea
