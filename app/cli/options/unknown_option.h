// Finds options that a command does not have. They are reported before anything that is missing
// because of them.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fovea {

/// "unknown option --varian; did you mean --variant?" for the command line that `program` has just
/// refused; empty if every option is known.
std::string unknown_option_text(const CLI::App& program);

}  // namespace fovea
