// A Theme is the look of the window: its colours, dark or light, and the few text styles.
#pragma once

#include <QColor>
#include <array>

class QApplication;

namespace fovea {

struct Theme {
  QColor window, surface, raised;  // the ground, docks on it, and fields on those
  QColor line, text, muted, accent, warning, error, marked;
  std::array<QColor, 6> series;  // stages, curves; also distinct to the colour blind

  static const Theme& dark();
  static const Theme& light();
  static const Theme& current();
  static bool is_dark();  // now
};

/// Whether the desktop is dark now. Replaces the palette by the desktop's: call apply_theme after
/// it.
bool desktop_is_dark();
/// Fusion with our palette and a small style sheet; every widget follows.
void apply_theme(QApplication& application, bool dark);

}  // namespace fovea
