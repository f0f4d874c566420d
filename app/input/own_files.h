// The program itself, and what was packed with it for systems that lack it: plugins of Qt, fonts.
#pragma once

#include <string>

namespace fovea {

/// The program `fovea`: the running program, or else the one in its folder.
std::string own_program();

/// Where HOME names no folder of a person, libraries take "/": then it becomes the home folder of
/// the user, and where that is none either, a path at which nothing can be written.
void require_home();

/// Before anything else of Qt, which reads qt.conf only once there is a QCoreApplication.
void use_own_plugins();

/// Before a QGuiApplication: where the system has no configuration of fonts, ours is used.
void configure_fonts();

/// After it.
void add_own_fonts();

}  // namespace fovea
