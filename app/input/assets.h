// Where the bundled examples lie, and what else was packed with the program.
#pragma once

#include <string>

#include "data/source.h"
#include "session/session.h"

namespace fovea {

/// Beside the executable, under an installation's share/fovea, or in the source tree; empty:
/// nowhere.
std::string assets_directory();

/// What was packed with the program, for systems that lack it; empty if nothing was.
std::string own_fonts_directory();
std::string own_plugins_directory();

/// The folder that holds our Python package, `fovea`, of the same version. Throws UnavailableError
/// where it was not installed.
std::string python_package_directory();

/// What is shown of a source at first: of a bundled model, or of its capture, the head that
/// assets/PROVENANCE.md recommends, else the first head; of an attention matrix alone only what can
/// be seen of it.
Session first_session(const Source& source);

/// What the window opens when nothing is named: the bundled model of texts with the text of the
/// example, or a synthetic head without assets. The address holds the text: it can be edited, and
/// means the same elsewhere.
std::string standard_example();

/// Heads of the bundled model of texts as the full weights compute them, on the same text; without
/// assets synthetic ones.
std::string captured_example();

}  // namespace fovea
