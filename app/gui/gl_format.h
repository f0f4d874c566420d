// The GL that the canvas draws with, asked for before there is an application.
#pragma once

namespace fovea {

/// GL 3.3 core for every context: those of a window's canvases are shared. Before QApplication.
void ask_for_gl();

}  // namespace fovea
