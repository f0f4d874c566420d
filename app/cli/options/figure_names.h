// Checks names of figures and fonts on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace fovea {

/// The name of a font that is installed; needs a Painting. Throws UsageError.
std::string installed_font(const std::string& name);

/// Throws UsageError unless the name, given as `option`, ends in .png, .svg, .pdf or .pgf.
/// `others`: which endings the caller takes besides.
void check_figure_name(const std::string& output, const std::string& option = "-o",
                       const std::string& others = "");

/// --no-session, of every command that writes a figure or a report.
void add_no_session(CLI::App& command, bool& no_session);

}  // namespace fovea
