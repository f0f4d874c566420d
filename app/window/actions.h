#pragma once

namespace fovea {

class MainWindow;

/// Makes the menus and keys of a window. Every key can be changed under Help > Keys.
void make_actions(MainWindow& window);

}  // namespace fovea
