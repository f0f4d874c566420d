// Checks the command that a figure says makes it: text from a file that cannot be trusted.
#pragma once

#include <string_view>

namespace fovea {

/// Whether a shell would run only `fovea` with a command that writes figures: all words are plain
/// or in single quotes, as Fovea writes them.
bool is_command_of_fovea(std::string_view text);

/// Whether it is a call of the Python package, "fovea.figure(q, k, v)  # q [2, 5, 3]", which no
/// shell runs.
bool is_call_of_fovea(std::string_view text);

}  // namespace fovea
