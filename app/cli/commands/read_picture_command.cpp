#include <cstdlib>
#include <iostream>

#include "cli/commands/commands.h"
#include "input/picture_process.h"

namespace fovea {

// fovea read-picture: started by read_image(), not by people.
void add_read_picture_command(CLI::App& program, Work& chosen) {
  struct Options {
    int patch = 8, max_side = 0, seconds = 30;
  };
  auto* command = program.add_subcommand("read-picture", "Decode a picture for another process");
  command->group("");  // not in the list of commands
  auto options = std::make_shared<Options>();
  command->add_option("--patch", options->patch)->check(CLI::Range(0, 4096));
  command->add_option("--max-side", options->max_side)->check(CLI::NonNegativeNumber);
  command->add_option("--seconds", options->seconds)->check(CLI::PositiveNumber);
  command->callback([&chosen, options] {
    chosen = [options](const Console&) {
      read_picture_for_other(std::cin, options->patch, options->max_side, options->seconds);
      std::_Exit(0);  // nothing that runs at the end of a program may open a file
    };
  });
}

}  // namespace fovea
