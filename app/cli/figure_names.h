// Names of figures and of the fonts in them, as they are given on the command line.
#pragma once

#include <string>

namespace fovea {

/// The name of a font that is installed; needs a Painting. Throws UsageError.
std::string installed_font(const std::string& name);

/// Throws UsageError unless the name, given as -o, ends in .png, .svg, .pdf or .pgf.
void check_figure_name(const std::string& output);

}  // namespace fovea
