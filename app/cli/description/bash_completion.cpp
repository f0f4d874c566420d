// Completion in bash. If no value is known, bash completes names of files.
#include "cli/description/description.h"
#include "data/text.h"

namespace fovea {
namespace {

std::string names_of(const CommandDescription& command) {
  return join(
      command.options, [](const OptionDescription& option) { return join(option.names, {}, " "); },
      " ");
}

/// Lines of a `case` over COMMAND:OPTION.
std::string values_in_bash(const CommandDescription& command, const std::string& name) {
  std::string out;
  for (const OptionDescription& option : command.options) {
    if (option.value.empty()) continue;
    const std::string pattern = join(
        option.names, [&](const std::string& one) { return name + ":" + one; }, "|");
    out += "    " + pattern + ") words='" + join(option.choices, {}, " ") + "' ;;\n";
  }
  return out;
}

std::string positionals_in_bash(const CommandDescription& command) {
  std::string out;
  for (const OptionDescription& one : command.positionals)
    if (!one.choices.empty()) add_item(out, join(one.choices, {}, " "), " ");
  return out;
}

}  // namespace

std::string bash_completion(const Description& it) {
  std::string commands, values, options, positionals;
  for (const CommandDescription& command : it.commands) {
    add_item(commands, command.name, " ");
    values += values_in_bash(command, command.name);
    options +=
        "      " + command.name + ") words='-h --help --help-all " + names_of(command) + "' ;;\n";
    if (const std::string known = positionals_in_bash(command); !known.empty())
      positionals += "      " + command.name + ") words='" + known + "' ;;\n";
  }
  return R"(# Completion of fovea in bash, written by `fovea describe bash`.
_fovea() {
  local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command= words= i
  # "--option=value" is three words here.
  if [[ $word == = ]]; then
    word=
  elif [[ $before == = ]]; then
    before=${COMP_WORDS[COMP_CWORD - 2]}
  fi
  for ((i = 1; i < COMP_CWORD; i++)); do
    if [[ " )" +
         commands + R"( " == *" ${COMP_WORDS[i]} "* ]]; then
      command=${COMP_WORDS[i]}
      break
    fi
  done
  case $command:$before in
)" + values_in_bash(it.program, "") +
         values + R"(    *)
      if [[ $word == -* ]]; then
        case $command in
)" + "      '') words='" +
         names_of(it.program) + "' ;;\n" + options + R"(        esac
      elif [[ -z $command ]]; then
        words=')" +
         commands + R"('
      else
        case $command in
)" + positionals +
         R"(        esac
      fi
      ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o bashdefault -o default -F _fovea fovea
)";
}

}  // namespace fovea
