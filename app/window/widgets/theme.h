// A Theme is the look of the window: the colours of drawing/style.h for Qt's widgets, dark or
// light.
#pragma once

#include <QColor>
#include <array>

class QApplication;

namespace fovea {

struct Theme {
  QColor window, surface, raised;  // the ground, docks on it, and fields on those
  QColor line, text, muted, accent, warning, error, marked, found;
  std::array<QColor, 6> series;  // stages

  static const Theme& current();
  static bool is_dark();  // now
};

/// Black or white, whichever can be read on `ground`.
QColor readable_on(const QColor& ground);

/// Whether the desktop is dark now. Replaces the palette by the desktop's: call apply_theme after
/// it.
bool desktop_is_dark();
/// Fusion with our palette and a small style sheet; every widget follows.
void apply_theme(QApplication& application, bool dark);

}  // namespace fovea
