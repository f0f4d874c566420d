#include "input/recorded_command.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include "data/utf8.h"

namespace fovea {
namespace {

constexpr std::array figure_commands{"render", "report", "pareto", "paper", "sweep", "bench"};

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./:,=+@%").find(c) != std::string_view::npos;
}

/// The words as a shell reads them; nothing if some are neither plain nor quoted.
std::optional<std::vector<std::string>> words_of(std::string_view line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (std::size_t at = 0; at < line.size(); ++at) {
    const char c = line[at];
    if (!quoted && line.substr(at, 2) == "$'") {  // bytes that are no UTF-8
      const std::size_t end = line.find('\'', at + 2);
      if (end == line.npos) return {};
      for (at += 2; at < end; ++at)
        if (!is_plain(line[at]) && line.substr(at, 2) != "\\x") return {};
      words.back() += '?';
    } else if (c == '\'') {
      quoted = !quoted;
    } else if (quoted || is_plain(c)) {
      words.back() += c;
    } else if (line.substr(at, 2) == "\\'") {
      words.back() += line[++at];
    } else if (c == ' ') {
      words.emplace_back();
    } else {
      return {};
    }
  }
  if (quoted) return {};
  return words;
}

bool is_option(std::string_view word) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || c == '-' || c == '='; };
  const std::string_view name = word.substr(0, word.find('='));
  return word.starts_with("-o") || std::ranges::all_of(name, is_letter) || name.size() == 1 ||
         (name[1] >= '0' && name[1] <= '9');  // a negative number
}

}  // namespace

bool is_command_of_fovea(std::string_view text) {
  if (printable(text) != text) return false;
  const auto words = words_of(text);
  return words && words->size() > 2 && (*words)[0] == "fovea" &&
         std::ranges::find(figure_commands, (*words)[1]) != figure_commands.end() &&
         std::ranges::all_of(*words, [](const std::string& word) {
           return !word.starts_with('-') || is_option(word);
         });
}

bool is_call_of_fovea(std::string_view text) {
  constexpr std::string_view marks = "_.,=:[](){}#'\"+- ";
  return text.starts_with("fovea.figure(") && std::ranges::all_of(text, [&](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  marks.find(c) != marks.npos;
         });
}

}  // namespace fovea
