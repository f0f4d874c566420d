// Reads UTF-8 one character at a time, and makes text from files safe to show.
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

/// The text as it can be shown anywhere, a terminal included: control characters, marks that change
/// the direction of writing and bytes that are not UTF-8 become "\n", "\t", "\x1B", "\u202E".
std::string printable(std::string_view text);

/// Text of a file as a message quotes it: "'name'", printable, and at most about 100 characters of
/// it.
std::string quoted(std::string_view text);

}  // namespace fovea
