#include "io/token_marks.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

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

/// The bytes that a byte-level token stands for; nothing where it has another character.
std::optional<std::string> bytes_of(std::string_view token) {
  static const std::array<int, 0x144> table = byte_table();
  std::string bytes;
  while (!token.empty()) {
    const auto [code, length] = first_character(token);
    if (length == 0 || code >= table.size() || table[code] < 0) return std::nullopt;
    bytes += static_cast<char>(table[code]);
    token.remove_prefix(length);
  }
  return bytes;
}

/// "##ing", as WordPiece marks the continuation of a word. "##" before anything but a letter or a
/// digit is a Markdown heading.
bool continues_word(std::string_view token) {
  if (!token.starts_with("##") || token.size() < 3) return false;
  const char next = token[2];
  return (next & 0x80) != 0 ? !token.substr(2).starts_with("Ċ") && !token.substr(2).starts_with("Ġ")
                            : ('0' <= next && next <= '9') || ('A' <= next && next <= 'Z') ||
                                  ('a' <= next && next <= 'z');
}

bool is_special(std::string_view token) {
  return token.starts_with('<') && token.ends_with('>');
}

/// Whether tokens are written in GPT-2's alphabet of bytes. One token is not enough to tell: "ağır"
/// is a Turkish word and could be bytes, too. A text of bytes has spaces (Ġ) or line breaks (Ċ),
/// and no marks of SentencePiece (▁) or WordPiece (##). Chinese has neither; in that case all
/// tokens must join to UTF-8 with characters of several bytes, which other texts do not do by
/// chance.
bool are_byte_level(const std::vector<std::string>& tokens) {
  bool marked = false, foreign = false;
  std::string joined;
  for (const std::string& token : tokens) {
    if (token.starts_with("▁") || continues_word(token)) return false;
    marked = marked || token.find("Ġ") != std::string::npos || token.find("Ċ") != std::string::npos;
    const auto bytes = bytes_of(token);
    joined += bytes.value_or("");
    foreign = foreign || (!bytes && !is_special(token));
  }
  const auto is_long = [](char byte) { return (byte & 0x80) != 0; };
  return marked || (!foreign && is_utf8(joined) && std::ranges::any_of(joined, is_long));
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

/// The text or bytes of a token. Neighbours that are bytes may share a character.
struct TokenText {
  std::string text;
  bool bytes = false;
};

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

TokenText text_of_token(const std::string& token, bool byte_level) {
  TokenText piece{token};
  if (const int byte = single_byte(token); !byte_level && byte >= 0)
    return {std::string(1, static_cast<char>(byte)), true};
  if (auto bytes = byte_level ? bytes_of(token) : std::nullopt) {
    piece = {std::move(*bytes), true};
  } else {
    replace_all(piece.text, "▁", " ");
    if (continues_word(token)) piece.text.erase(0, 2);
  }
  constexpr std::string_view word_end = "</w>";
  if (piece.text.size() > word_end.size() && piece.text.ends_with(word_end))
    piece.text.replace(piece.text.size() - word_end.size(), word_end.size(), " ");
  return piece;
}

void append_byte_name(std::string& text, unsigned char byte) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  text += "<0x";
  text += digits[byte >> 4];
  text += digits[byte & 15];
  text += '>';
}

/// Gives each character to the token where it begins, and "…" to those where it goes on. Bytes that
/// are no UTF-8 become <0xE9>.
std::vector<std::string> characters_shared(const std::vector<TokenText>& pieces) {
  std::vector<std::string> out;
  std::size_t taken = 0;  // bytes of the next pieces that belong to the last character
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    std::string& text = out.emplace_back();
    std::string_view rest = pieces[i].text;
    if (taken > 0) {
      text = "…";
      const std::size_t here = std::min(taken, rest.size());
      rest.remove_prefix(here);
      taken -= here;
    }
    while (!rest.empty()) {
      std::string ahead;  // the rest of the text, and what may end its last character
      std::string_view all = rest;
      auto length = first_character(all).length;
      if (length == 0 && pieces[i].bytes) {
        ahead = rest;
        for (std::size_t j = i + 1; ahead.size() < 4 && j < pieces.size() && pieces[j].bytes; ++j)
          ahead += pieces[j].text;
        all = ahead;
        length = first_character(all).length;
      }
      if (length == 0)
        append_byte_name(text, static_cast<unsigned char>(rest[0]));
      else
        text += all.substr(0, length);
      taken = length > rest.size() ? length - rest.size() : 0;
      rest.remove_prefix(std::min(std::max<std::size_t>(length, 1), rest.size()));
    }
  }
  return out;
}

/// Spaces other than " ", and characters of no width. They are shown by signs only in tokens that
/// hold nothing else.
bool is_invisible(char32_t code) {
  const auto within = [code](char32_t first, char32_t last) {
    return first <= code && code <= last;
  };
  return code == 0xa0 || code == 0xad || code == 0x1680 || code == 0x180e ||
         within(0x2000, 0x200d) || code == 0x202f || within(0x205f, 0x2064) || code == 0x3000 ||
         code == 0x3164 || within(0xfe00, 0xfe0f);
}

bool shows_nothing(std::string_view text) {
  while (!text.empty()) {
    const auto [code, length] = first_character(text);
    if (code != ' ' && !is_invisible(code)) return false;
    text.remove_prefix(length);
  }
  return true;
}

void append_code(std::string& text, char32_t code) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  text += "U+";
  for (int shift = code > 0xffff ? 16 : 12; shift >= 0; shift -= 4)
    text += digits[code >> shift & 15];
}

}  // namespace

std::string with_signs(std::string_view text) {
  const bool nothing = shows_nothing(text);
  std::string out;
  while (!text.empty()) {
    const auto [code, length] = first_character(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(1, length));
    if (length == 0)
      append_byte_name(out, static_cast<unsigned char>(text[0]));
    else if (code == '\n')
      out += "↵";
    else if (code == '\t')
      out += "⇥";
    else if (code == '\r')
      out += "⇤";
    else if (printable(character) != character || (nothing && is_invisible(code)))
      append_code(out, code);
    else
      out += character;
    text.remove_prefix(character.size());
  }
  return out;
}

std::vector<std::string> display_tokens(const std::vector<std::string>& tokens) {
  const bool byte_level = are_byte_level(tokens);
  std::vector<TokenText> pieces;
  for (const std::string& token : tokens) pieces.push_back(text_of_token(token, byte_level));
  std::vector<std::string> out = characters_shared(pieces);
  for (std::string& text : out) text = with_signs(text);
  return out;
}

}  // namespace fovea
