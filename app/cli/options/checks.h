// Checks of what options are given.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fovea {

/// A check for options that name something: `-o ''` usually comes from an unset variable in a
/// script.
std::string refuse_empty(const std::string& text);
/// CLI::Range for options that take a number; NaN is refused, too.
CLI::Validator number_from(double least, double most);

}  // namespace fovea
