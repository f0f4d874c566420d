// fovea describe: the manual page and the completions of shells, from the command line's own
// description. Hidden from --help, as only packages use it.
#include "cli/commands/commands.h"
#include "cli/description/description.h"
#include "cli/version.h"

namespace fovea {

void add_describe_command(CLI::App& program, Work& chosen) {
  auto* command = program.add_subcommand("describe", "The command line as a file for other tools");
  command->group("");
  auto format = std::make_shared<std::string>();
  command->add_option("FORMAT", *format, "What is written")
      ->check(CLI::IsMember({"man", "bash", "zsh", "fish"}))
      ->required();
  command->callback([&program, &chosen, format] {
    chosen = [&program, format](const Console& console) {
      const Description description = describe(program, version_number());
      console.out << (*format == "man"    ? manual_page(description)
                      : *format == "bash" ? bash_completion(description)
                      : *format == "zsh"  ? zsh_completion(description)
                                          : fish_completion(description));
    };
  });
}

}  // namespace fovea
