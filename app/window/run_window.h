// The program without a command: the window.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "input/backend_choice.h"

class QApplication;

namespace fovea {

class MainWindow;

/// Qt's application, ready for windows. Throws UnavailableError when no screen is named; where one
/// is named and cannot be reached, says so and ends the program with status 4: Qt knows no way back
/// from there. `argc` and `argv` outlive it.
std::unique_ptr<QApplication> start_application(int& argc, char** argv);

/// A window for each source or session; of none one window, on what was open last, else on the
/// bundled example.
std::vector<std::unique_ptr<MainWindow>> open_windows(const std::vector<std::string>& files,
                                                      const BackendChoice& backend);

/// Until the last window is closed. The exit status.
int run_window(int argc, char** argv, const std::vector<std::string>& files,
               const BackendChoice& backend = {});

}  // namespace fovea
