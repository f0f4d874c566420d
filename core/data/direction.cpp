#include "data/direction.h"

#include <algorithm>
#include <string_view>

#include "data/utf8.h"

namespace fovea {
namespace {

bool from_right_to_left(char32_t code) {
  const auto within = [code](char32_t first, char32_t last) {
    return first <= code && code <= last;
  };
  return within(0x590, 0x8ff) || within(0xfb1d, 0xfdff) || within(0xfe70, 0xfefe) ||
         within(0x10800, 0x10fff) || within(0x1e800, 0x1efff);
}

}  // namespace

std::string isolated(const std::string& text) {
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto [code, length] = first_character(rest);
    if (from_right_to_left(code)) return "\u2068" + text + "\u2069";
    rest.remove_prefix(std::max<std::size_t>(1, length));
  }
  return text;
}

}  // namespace fovea
