#pragma once

namespace fovea {

class MainWindow;

/// Makes the keys that have no entry in a menu: those of the canvas, and those for how panels are
/// drawn and which column is selected.
void make_canvas_keys(MainWindow& window);

}  // namespace fovea
