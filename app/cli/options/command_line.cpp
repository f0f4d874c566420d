#include "cli/options/command_line.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "data/utf8.h"

namespace fovea {
namespace {

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./:,=+@%").find(c) != std::string_view::npos;
}

}  // namespace

// bash, zsh and ksh understand $'...'.
std::string shell_word(const std::string& word) {
  if (!is_utf8(word)) {
    std::string out = "$'";
    for (const char c : word) {
      std::array<char, 5> escaped{};
      std::snprintf(escaped.data(), escaped.size(), "\\x%02x", static_cast<unsigned char>(c));
      out += is_plain(c) ? std::string(1, c) : escaped.data();
    }
    return out + "'";
  }
  if (!word.empty() && std::ranges::all_of(word, is_plain)) return word;
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out + "'";
}

std::string command_line(const std::vector<std::string>& words, const std::string& output,
                         const std::string& stem) {
  std::string line = "fovea";
  for (std::size_t w = 1; w < words.size(); ++w) {
    std::string word = words[w];
    const bool names_output = words[w - 1] == "-o" || words[w - 1] == "--output" ||
                              word.starts_with("-o") || word.starts_with("--output=");
    if (!output.empty() && names_output && word.ends_with(output))
      word = word.substr(0, word.size() - output.size()) + stem + output.substr(output.rfind('.'));
    line += " " + shell_word(word);
  }
  return line;
}

}  // namespace fovea
