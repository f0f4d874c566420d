#include "data/utf8.h"

#include <algorithm>

namespace fovea {
namespace {

// C0 and C1 controls, DEL, line and paragraph separators, and the marks and overrides of direction,
// which could make a message read as another.
bool changes_the_display(char32_t code) {
  const auto within = [code](char32_t first, char32_t last) {
    return first <= code && code <= last;
  };
  return code < 0x20 || within(0x7f, 0x9f) || code == 0x61c || within(0x200e, 0x200f) ||
         within(0x2028, 0x202e) || within(0x2066, 0x2069) || code == 0xfeff;
}

void append_hexadecimal(std::string& text, char32_t value, int digits) {
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
    text += "0123456789ABCDEF"[value >> shift & 15];
}

void append_escape(std::string& text, char32_t code) {
  if (code == '\n') {
    text += "\\n";
  } else if (code == '\t') {
    text += "\\t";
  } else if (code < 0x100) {
    append_hexadecimal(text += "\\x", code, 2);
  } else {
    append_hexadecimal(text += "\\u", code, 4);
  }
}

}  // namespace

Character first_character(std::string_view text) {
  if (text.empty()) return {};
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return {lead, 1};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {};
  char32_t code = lead & (0x7fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    code = code << 6 | (byte(i) & 0x3fu);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = 0xd800 <= code && code < 0xe000;
  if (code < least[length] || code > 0x10ffff || surrogate) return {};
  return {code, length};
}

void append_utf8(std::string& text, char32_t code) {
  const auto put = [&](char32_t bits) { text += static_cast<char>(bits); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xc0 | code >> 6);
    put(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    put(0xe0 | code >> 12);
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  } else {
    put(0xf0 | code >> 18);
    put(0x80 | (code >> 12 & 0x3f));
    put(0x80 | (code >> 6 & 0x3f));
    put(0x80 | (code & 0x3f));
  }
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = first_character(text).length;
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string printable(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [code, length] = first_character(text);
    if (length == 0) {  // a byte that does not begin a character
      append_escape(out, static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    if (changes_the_display(code))
      append_escape(out, code);
    else
      out += text.substr(0, length);
    text.remove_prefix(length);
  }
  return out;
}

std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 100;
  std::size_t kept = 0;
  while (kept < text.size() && kept < longest)
    kept += std::max<std::size_t>(1, first_character(text.substr(kept)).length);
  return "'" + printable(text.substr(0, kept)) + (kept < text.size() ? "...'" : "'");
}

}  // namespace fovea
