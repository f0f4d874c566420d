// The program itself, and what was packed with it for systems without it: plugins of Qt, fonts.
#pragma once

#include <string>

namespace fovea {

/// The program `fovea`: the running program, or else the one in its folder.
std::string own_program();

/// If HOME names no folder of a person, libraries take "/". This function then sets HOME to the
/// home folder of the user, or, if that is none either, to a path at which nothing can be written.
void require_home();

/// To be called before anything else of Qt, which reads qt.conf only once there is a
/// QCoreApplication.
void use_own_plugins();

/// To be called before a QGuiApplication is made: if the system has no configuration of fonts, ours
/// is used.
void configure_fonts();

/// To be called after the QGuiApplication was made.
void add_own_fonts();

}  // namespace fovea
