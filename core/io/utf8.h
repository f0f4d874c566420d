// UTF-8, one character at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace fovea {

/// The character at the front of `text` and how many bytes it takes. Ill-formed: length 0.
struct Character {
  char32_t code = 0;
  std::size_t length = 0;
};
Character first_character(std::string_view text);

void append_utf8(std::string& text, char32_t code);

bool is_utf8(std::string_view text);

}  // namespace fovea
