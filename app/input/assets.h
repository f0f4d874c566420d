// Finds the bundled examples and what else was packed with the program.
#pragma once

#include <string>

#include "data/source.h"
#include "session/session.h"

namespace fovea {

/// Beside the executable, under an installation's share/fovea, or in the source tree; empty if it
/// is nowhere.
std::string assets_directory();

/// Fonts packed with the program, for systems without any; empty if none were.
std::string own_fonts_directory();
std::string own_plugins_directory();

/// The folder that holds the Python package `fovea` of the same version. Throws UnavailableError if
/// it was not installed.
std::string python_package_directory();

/// The first look at a source: the head that assets/PROVENANCE.md recommends for a bundled model or
/// its capture, else the first head. An attention matrix alone gets only the views that it has.
Session first_session(const Source& source);

/// What the window opens if nothing is named: the bundled model of texts with the example text, or
/// a synthetic head without assets. The address holds the text, so that it can be edited and means
/// the same elsewhere.
std::string standard_example();

/// Heads that the full weights of the bundled model of texts compute on the same text; synthetic
/// ones without assets.
std::string captured_example();

}  // namespace fovea
