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

/// Qt's application, ready for windows. Throws UnavailableError if no screen is named. If a named
/// screen cannot be reached, says so and ends the program with status 4, as Qt would abort. `argc`
/// and `argv` must outlive it.
std::unique_ptr<QApplication> start_application(int& argc, char** argv);

/// Opens a window for each source or session; without any, one window on what was open last, else
/// on the bundled example. Each window deletes itself when it is closed. `streams` are those that
/// programs send, or null. `recovery` is the folder in which sessions are kept, and from which
/// sessions that were left behind are offered; empty for none. `listens` says whether programs
/// reach this program, see LiveBar::set_listening; empty if they do. It also applies to windows
/// that are opened later for restored sessions.
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
/// the exit status. Programs may also send to `port` of this machine, with the token that is
/// written to a file; 0 means any free port. Throws UnavailableError if the port cannot be had.
/// `use_kept_budget` is false if the command line has set a memory budget.
int run_window(int argc, char** argv, const std::vector<std::string>& files,
               const BackendChoice& backend = {}, std::optional<std::uint16_t> port = {},
               bool use_kept_budget = true);

}  // namespace fovea
