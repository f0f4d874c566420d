// The program without a command: the window.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "input/backend_choice.h"

class QApplication;

namespace fovea {

class Background;
class MainWindow;

/// Qt's application, ready for windows. Throws UnavailableError when no screen is named; where one
/// is named and cannot be reached, says so and ends the program with status 4: Qt aborts there.
/// `argc` and `argv` outlive it.
std::unique_ptr<QApplication> start_application(int& argc, char** argv);

/// A window for each source or session; without any one window, on what was open last, else on the
/// bundled example. Each deletes itself when it is closed.
std::vector<MainWindow*> open_windows(const std::vector<std::string>& files,
                                      const BackendChoice& choice,
                                      std::shared_ptr<Background> background);

/// Waits for all files that are being written. Errors that no window can show any more go to the
/// standard error stream.
void end_background(std::shared_ptr<Background> background);

/// Runs until the last window is closed. Returns the exit status.
int run_window(int argc, char** argv, const std::vector<std::string>& files,
               const BackendChoice& backend = {});

}  // namespace fovea
