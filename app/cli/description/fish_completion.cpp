// Completion in fish.
#include "cli/description/description.h"
#include "data/text.h"

namespace fovea {
namespace {

std::string fish_quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += (c == '\'' || c == '\\' ? "\\" : "") + std::string(1, c);
  return out + "'";
}

std::string choices_in_fish(const OptionDescription& option) {
  return fish_quoted(join(option.choices, {}, " "));
}

std::string fish_line(const OptionDescription& option, const std::string& condition) {
  std::string out = "complete -c fovea -n " + fish_quoted(condition);
  for (const std::string& name : option.names)
    out += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  if (!option.choices.empty())
    out += " -x -a " + choices_in_fish(option);
  else if (!option.value.empty())
    out += option.file ? " -r -F" : " -x";
  return out + " -d " + fish_quoted(brief(option.text)) + "\n";
}

}  // namespace

std::string fish_completion(const Description& it) {
  std::string out = "# Completion of fovea in fish, written by `fovea describe fish`.\n";
  const std::string first = "__fish_use_subcommand";
  for (const OptionDescription& option : it.program.options) {
    const bool help = option.names.back().starts_with("--help");
    out += fish_line(option, help ? "true" : first);  // every command has help
  }
  for (const CommandDescription& command : it.commands)
    out += "complete -c fovea -n " + first + " -a " + command.name + " -d " +
           fish_quoted(command.text) + "\n";
  for (const CommandDescription& command : it.commands) {
    const std::string in_command = "__fish_seen_subcommand_from " + command.name;
    for (const OptionDescription& one : command.positionals)
      if (!one.choices.empty())
        out += "complete -c fovea -n " + fish_quoted(in_command) + " -f -a " +
               choices_in_fish(one) + "\n";
    for (const OptionDescription& option : command.options) out += fish_line(option, in_command);
  }
  return out;
}

}  // namespace fovea
