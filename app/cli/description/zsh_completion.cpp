// Completion in zsh, with _arguments of its completion system.
#include "cli/description/description.h"
#include "data/text.h"

namespace fovea {
namespace {

/// Escapes a text for '...' of the shell.
std::string in_quotes(const std::string& text) {
  std::string out;
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c);
  return out;
}

/// Escapes a text for [...] and between colons of a specification.
std::string in_specification(const std::string& text) {
  std::string out;
  for (const char c : text)
    out += (c == '[' || c == ']' || c == ':' || c == '\\' ? "\\" : "") + std::string(1, c);
  return out;
}

std::string action_in_zsh(const OptionDescription& option) {
  if (option.choices.empty()) return option.file ? "_files" : " ";
  return "(" + join(option.choices, {}, " ") + ")";
}

std::string zsh_line(const OptionDescription& option) {
  const std::string all = join(option.names, {}, " ");
  std::string value;
  if (!option.value.empty())
    value = ":" + in_specification(option.value) + ":" + action_in_zsh(option);
  std::string out;
  for (const std::string& name : option.names) {
    const std::string once = option.repeated ? "*" : "(" + all + ")";
    const std::string ends = value.empty() ? "" : name.starts_with("--") ? "=" : "+";
    out += " \\\n        '" + once + name + ends + "[" +
           in_quotes(in_specification(brief(option.text)) + "]" + value) + "'";
  }
  return out;
}

std::string zsh_lines(const CommandDescription& command) {
  std::string out;
  for (const OptionDescription& option : command.options) out += zsh_line(option);
  return out;
}

}  // namespace

std::string zsh_completion(const Description& it) {
  std::string commands, cases;
  for (const CommandDescription& command : it.commands) {
    commands += "    '" + command.name + ":" + in_quotes(in_specification(command.text)) + "'\n";
    cases += "    " + command.name +
             ")\n      _arguments '(-h --help)-h[Print the help of this command]' \\\n"
             "        '(-h --help)--help[Print the help of this command]' \\\n"
             "        '--help-all[The options of every command]'" +
             zsh_lines(command);
    for (const OptionDescription& one : command.positionals)
      cases += std::string(" \\\n        '") + (one.repeated ? "*" : "") + ":" +
               in_quotes(in_specification(one.names.front()) + ":" + action_in_zsh(one)) + "'";
    cases += "\n      ;;\n";
  }
  return R"(#compdef fovea
# Completion of fovea in zsh, written by `fovea describe zsh`.
_fovea() {
  local context state state_descr line
  typeset -A opt_args
  local -a commands=(
)" + commands +
         R"(  )
  _arguments -C)" +
         zsh_lines(it.program) + R"( \
        '1: :->first' '*:: :->others' && return
  if [[ $state == first ]]; then
    _describe command commands
    _files
    return
  fi
  case $line[1] in
)" + cases +
         R"(    *) _files ;;
  esac
}
_fovea "$@"
)";
}

}  // namespace fovea
