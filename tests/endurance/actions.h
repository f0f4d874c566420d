// The actions of an endurance run: everything that a person may do with the windows, one row of a
// table each. An action begins with any state of any window, and need not wait for what it began.
#pragma once

#include <string>
#include <vector>

#include "endurance/desk.h"

namespace fovea::test {

struct Action {
  std::string name;
  int weight;  // how often it is chosen, beside the others
  void (*run)(Desk& desk);
};

/// Opening sources, sessions and figures; undo.
std::vector<Action> opening_actions();
/// Columns, their parameters, heads, views and masks.
std::vector<Action> session_actions();
/// The pointer and keys on the canvas.
std::vector<Action> canvas_actions();
/// Windows, docks, themes and whatever widget or menu entry there is.
std::vector<Action> window_actions();
/// Figures, numbers and sessions that are written, and the clipboard.
std::vector<Action> writing_actions();
/// Long work: learning, sweeps, trials, measuring, and cancelling any of it.
std::vector<Action> work_actions();
/// Programs that send to the windows.
std::vector<Action> live_actions();

/// All of them.
std::vector<Action> all_actions();

/// Triggers one of the window's actions by its name, where it is enabled.
void trigger(Desk& desk, MainWindow& window, const char* name);

}  // namespace fovea::test
