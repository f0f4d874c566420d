// Fonts that were packed with the program, for systems that have other ones or none.
#pragma once

namespace fovea {

/// Before a QGuiApplication: where the system has no configuration of fonts, ours is used.
void configure_fonts();

/// After it.
void add_own_fonts();

}  // namespace fovea
