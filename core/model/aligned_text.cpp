#include "model/aligned_text.h"

#include <string>

#include "data/utf8.h"

namespace fovea {
namespace {

/// How many bytes at the front one U+FFFD stands for: the beginning of a character, else one byte.
std::size_t ill_formed_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  const std::size_t whole = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  std::size_t length = 1;
  for (; length + 1 < whole && length < text.size(); ++length) {
    std::string completed(text.substr(0, length + 1));
    completed.resize(whole, '\x80');  // from the third byte on, any such byte continues it
    if (first_character(completed).length == 0) break;
  }
  return length;
}

}  // namespace

AlignedText aligned_text(std::string_view text, IndexRange part) {
  AlignedText out;
  out.reserve(part.size());
  std::string_view rest = text.substr(part.begin, part.size());
  Index at = part.begin;
  while (!rest.empty()) {
    auto [code, length] = first_character(rest);
    if (length == 0) {
      code = 0xfffd;
      length = ill_formed_length(rest);
    }
    out.push_back({code, {at, at + static_cast<Index>(length)}});
    at += static_cast<Index>(length);
    rest.remove_prefix(length);
  }
  return out;
}

IndexRange bytes_of(const AlignedText& text, IndexRange characters) {
  return {text[characters.begin].bytes.begin, text[characters.end - 1].bytes.end};
}

}  // namespace fovea
