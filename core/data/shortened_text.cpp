#include "data/shortened_text.h"

#include <string_view>

#include "data/utf8.h"

namespace fovea {

std::string shortened_text(const std::string& text) {
  constexpr std::size_t most = 24;  // bytes
  if (text.size() <= most) return text;
  std::size_t end = text.find_last_of(' ', most);
  if (end == text.npos) {
    const auto next = [&] { return first_character(std::string_view(text).substr(end)).length; };
    for (end = 0; next() > 0 && end + next() <= most;) end += next();
  }
  return text.substr(0, end) + " …";
}

}  // namespace fovea
