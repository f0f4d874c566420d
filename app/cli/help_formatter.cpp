#include "cli/help_formatter.h"

#include <algorithm>
#include <sstream>

namespace fovea {
namespace {

constexpr std::size_t line_length = 100;

std::size_t letters_in(const std::string& text) {
  return std::ranges::count_if(
      text, [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; });
}

/// Without the numbers that choices stand for: "{a->0,b->1}" becomes "{a,b}".
std::string without_numbers(std::string choices) {
  for (std::size_t at = choices.find("->"); at != choices.npos; at = choices.find("->", at))
    choices.erase(at, std::min(choices.find_first_of(",}", at), choices.size()) - at);
  return choices;
}

}  // namespace

// Which options exclude each other is said where somebody combines them, and in the manual.
std::string HelpFormatter::make_option_opts(const CLI::Option* option) const {
  std::string words = CLI::Formatter::make_option_opts(option);
  if (!option->get_excludes().empty()) words.resize(words.rfind(" Excludes:"));
  return without_numbers(words);
}

std::string HelpFormatter::make_option_desc(const CLI::Option* option) const {
  return wrapped(CLI::Formatter::make_option_desc(option));
}

std::string HelpFormatter::make_subcommand(const CLI::App* command) const {
  std::ostringstream out;
  CLI::detail::format_help(out, command->get_display_name(true),
                           wrapped(command->get_description()), get_column_width());
  return out.str();
}

std::string HelpFormatter::wrapped(const std::string& text) const {
  const std::size_t room = line_length - get_column_width();
  std::istringstream words(text);
  std::string out;
  std::size_t taken = 0;
  for (std::string word; words >> word;) {
    const std::size_t letters = letters_in(word);
    if (taken > 0 && taken + 1 + letters > room) {
      out += '\n';
      taken = 0;
    } else if (taken > 0) {
      out += ' ';
      ++taken;
    }
    out += word;
    taken += letters;
  }
  return out;
}

}  // namespace fovea
