// The program without a command: the window.
#pragma once

#include <string>
#include <vector>

#include "input/backend_choice.h"

namespace fovea {

/// Whether there is a screen to open a window on.
bool has_display();

/// `files`: at most one source or session is opened; none: the last one, else the bundled example.
/// The exit status; 4 when there is no display.
int run_window(int argc, char** argv, const std::vector<std::string>& files,
               const BackendChoice& backend = {});

}  // namespace fovea
