// Whole numbers on the command line are decimal: "010" is ten. CLI11 would read it as octal.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "data/matrix.h"

namespace fovea {

/// A decimal number; nothing for any other text.
std::optional<Index> whole_number_from(const std::string& text);

/// The options of `command`, and of those below it, that take whole numbers read them as decimal,
/// and refuse hexadecimal and binary ones.
void read_whole_numbers_as_decimal(CLI::App& command);

}  // namespace fovea
