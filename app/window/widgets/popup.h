// Popups are shown where they are wanted, as far as the screen has room.
#pragma once

#include <QWidget>

namespace fovea {

/// Shows a popup at a point, moved so that all of it is on the window's screen.
void show_on_screen(QWidget& popup, QPoint place);

}  // namespace fovea
