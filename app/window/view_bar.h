#pragma once

class QMenu;

namespace fovea {

class MainWindow;

/// Adds a tool bar to the window that shows and changes how panels are drawn, and the same choices
/// to a menu.
void make_view_bar(MainWindow& window, QMenu& menu);

}  // namespace fovea
