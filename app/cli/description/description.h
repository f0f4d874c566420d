// A Description is the command line as data: what --help tells, for the manual page and for shells.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace fovea {

struct OptionDescription {
  std::vector<std::string> names;    // "-o", "--output"; of a positional its name alone
  std::string value;                 // "FILE"; empty for a flag or a positional
  std::vector<std::string> choices;  // known values
  std::string range;                 // "0 - 1024"; empty if none is stated
  std::string standard;              // its default
  std::string text;
  std::string group;  // "How it looks"; "Options" if there is no other
  std::vector<std::string> excludes;
  bool required = false, repeated = false;
  bool file = false;  // its value may be the name of a file or folder
};

struct CommandDescription {
  std::string name, text;
  std::vector<OptionDescription> positionals, options;
};

struct Description {
  std::string version;
  CommandDescription program;
  std::vector<CommandDescription> commands;
  std::string footer;
};

/// Describes all commands, without the options for help, which the program has too, and without
/// what is hidden from --help.
Description describe(const CLI::App& program, const std::string& version);

/// The beginning of a text, short enough for a list in a shell.
std::string brief(const std::string& text);

/// For groff, with the macros of man(7).
std::string manual_page(const Description& description);
std::string bash_completion(const Description& description);
std::string zsh_completion(const Description& description);
std::string fish_completion(const Description& description);

}  // namespace fovea
