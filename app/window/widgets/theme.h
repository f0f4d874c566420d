// The theme of the window: the colours of drawing/style.h, dark or light.
#pragma once

#include "drawing/style.h"

class QApplication;

namespace fovea {

const drawing::Style& window_style();
bool window_is_dark();

/// Whether the desktop is dark now. Replaces the palette by that of the desktop: call apply_theme
/// afterwards.
bool desktop_is_dark();
/// Fusion with our palette and a small style sheet; every widget follows.
void apply_theme(QApplication& application, bool dark);

}  // namespace fovea
