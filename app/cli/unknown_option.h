// An option that the command does not have is reported before anything that is missing because of
// it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fovea {

/// "unknown option --varian; did you mean --variant?" of the command line that `program` has just
/// refused. Empty: every option is known.
std::string unknown_option_text(const CLI::App& program);

}  // namespace fovea
