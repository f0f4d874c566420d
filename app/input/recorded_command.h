// The command that a figure says makes it: text from a file, which is believed only so far.
#pragma once

#include <string_view>

namespace fovea {

/// Whether a shell that is given this text runs `fovea` with a command that writes figures, and
/// nothing else: words that are plain or in single quotes, as Fovea writes them.
bool is_command_of_fovea(std::string_view text);

}  // namespace fovea
