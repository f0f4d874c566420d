// The program without a command: the window.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "input/backend_choice.h"

class QApplication;

namespace fovea {

struct Background;
class LiveStreams;
class MainWindow;

/// Qt's application, ready for windows. Throws UnavailableError when no screen is named; where one
/// is named and cannot be reached, says so and ends the program with status 4: Qt aborts there.
/// `argc` and `argv` outlive it.
std::unique_ptr<QApplication> start_application(int& argc, char** argv);

/// A window for each source or session; without any one window, on what was open last, else on the
/// bundled example. Each deletes itself when it is closed. `streams`: what programs send; null:
/// nothing. `recovery`: the folder where sessions are kept, and offered that were left behind;
/// empty: none. `listens`: whether programs reach this program, see LiveBar::set_listening; empty:
/// they do. It also goes for windows that are opened later, for sessions that are restored.
std::vector<MainWindow*> open_windows(const std::vector<std::string>& files,
                                      const BackendChoice& choice,
                                      std::shared_ptr<Background> background,
                                      std::shared_ptr<LiveStreams> streams = {},
                                      const std::string& recovery = {},
                                      std::function<bool()> listens = {});

/// Waits for all files that are being written. Errors that no window can show any more go to the
/// standard error stream.
void end_background(std::shared_ptr<Background> background);

/// Runs until the last window is closed, and takes what other programs of this user send. Returns
/// the exit status. `port`: programs may send to this port of this machine, too, with the token
/// that is written to a file; 0 means to any free port. Throws UnavailableError when it cannot be
/// had. `use_kept_budget`: take the memory budget that was kept; false if the command line has set
/// one.
int run_window(int argc, char** argv, const std::vector<std::string>& files,
               const BackendChoice& backend = {}, std::optional<std::uint16_t> port = {},
               bool use_kept_budget = true);

}  // namespace fovea
