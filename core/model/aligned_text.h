// An AlignedText is a text on its way to tokens: its characters, which are changed step by step,
// each with the bytes of the text that it came from.
#pragma once

#include <string_view>
#include <vector>

#include "data/matrix.h"

namespace fovea {

struct AlignedCharacter {
  char32_t code = 0;
  IndexRange bytes;
};
using AlignedText = std::vector<AlignedCharacter>;

/// The characters of a part of a text. Bytes that are not UTF-8 become U+FFFD, as many as Python
/// makes with errors="replace".
AlignedText aligned_text(std::string_view text, IndexRange part);

/// The bytes of some characters that follow each other, at least one.
IndexRange bytes_of(const AlignedText& text, IndexRange characters);

}  // namespace fovea
