// What was packed with the program, for systems that lack it: plugins of Qt, and fonts.
#pragma once

namespace fovea {

/// Before anything else of Qt, which reads qt.conf only once there is a QCoreApplication.
void use_own_plugins();

/// Before a QGuiApplication: where the system has no configuration of fonts, ours is used.
void configure_fonts();

/// After it.
void add_own_fonts();

}  // namespace fovea
