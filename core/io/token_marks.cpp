#include "io/token_marks.h"

#include <array>
#include <optional>

#include "data/utf8.h"

namespace fovea {
namespace {

/// GPT-2 writes each byte of a text as one character: printable Latin-1 as itself, the 68 others in
/// order from U+0100 on. [character] -> byte, -1 where no byte is written so.
std::array<int, 0x144> byte_table() {
  std::array<int, 0x144> bytes;
  bytes.fill(-1);
  std::size_t next = 0x100;
  for (int byte = 0; byte < 256; ++byte) {
    const bool printable = (0x21 <= byte && byte <= 0x7e) || (0xa1 <= byte && byte <= 0xac) ||
                           (0xae <= byte && byte <= 0xff);
    bytes[printable ? static_cast<std::size_t>(byte) : next++] = byte;
  }
  return bytes;
}

/// The bytes that a byte-level token stands for; nothing for other tokens. "é" alone would be half
/// a character, so it is kept as it is unless a mark such as Ġ shows that the token is byte-level.
std::optional<std::string> byte_level(std::string_view token) {
  static const std::array<int, 0x144> table = byte_table();
  std::string bytes;
  bool marked = false;
  while (!token.empty()) {
    const auto [code, length] = first_character(token);
    if (length == 0 || code >= table.size() || table[code] < 0) return std::nullopt;
    bytes += static_cast<char>(table[code]);
    marked = marked || code >= 0x100;
    token.remove_prefix(length);
  }
  if (!marked && !is_utf8(bytes)) return std::nullopt;
  return bytes;
}

/// <0x0A>, as SentencePiece writes a byte; -1 when the token is not that.
int single_byte(std::string_view token) {
  if (token.size() != 6 || !token.starts_with("<0x") || !token.ends_with(">")) return -1;
  int value = 0;
  for (const char c : token.substr(3, 2)) {
    const bool digit = '0' <= c && c <= '9', letter = 'A' <= c && c <= 'F';
    if (!digit && !letter) return -1;
    value = value * 16 + (digit ? c - '0' : c - 'A' + 10);
  }
  return value;
}

void append_byte_name(std::string& text, unsigned char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  text += "<0x";
  text += digits[byte >> 4];
  text += digits[byte & 15];
  text += '>';
}

/// Replaces SentencePiece's spaces by spaces, control characters by their pictures and bytes that
/// are not UTF-8 by their names. Characters that change the display are escaped.
std::string with_pictures(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const auto [code, length] = first_character(text);
    if (length == 0) {
      append_byte_name(out, static_cast<unsigned char>(text[0]));
      text.remove_prefix(1);
      continue;
    }
    append_utf8(out, code < 0x20      ? 0x2400 + code
                     : code == 0x7f   ? char32_t{0x2421}
                     : code == 0x2581 ? U' '
                                      : code);
    text.remove_prefix(length);
  }
  return out;
}

}  // namespace

std::string display_token(std::string_view token) {
  if (const int byte = single_byte(token); 0 <= byte && byte < 0x80)
    return with_pictures(std::string(1, static_cast<char>(byte)));
  std::string text = byte_level(token).value_or(std::string(token));
  // WordPiece's mark for the continuation of a word. A Markdown heading has a space after its
  // marks.
  if (text.starts_with("##") && text.size() > 2 && text[2] != '#' && text[2] != ' ')
    text.erase(0, 2);
  constexpr std::string_view word_end = "</w>";
  if (text.size() > word_end.size() && text.ends_with(word_end)) {
    text.resize(text.size() - word_end.size());
    text += ' ';
  }
  return printable(with_pictures(text));
}

}  // namespace fovea
