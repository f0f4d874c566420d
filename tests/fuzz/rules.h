// Rules that hold whatever bytes were parsed.
#pragma once

#include <stdexcept>
#include <string>

#include "data/utf8.h"

namespace fovea::test {

/// Throws std::logic_error unless it holds.
inline void require(bool holds, const std::string& rule) {
  if (!holds) throw std::logic_error(rule);
}

/// What is shown of a file is valid UTF-8 without control characters.
inline void require_printable(const std::string& text, const std::string& what) {
  require(printable(text) == text, what + " is shown with control characters");
}

}  // namespace fovea::test
