#include "endurance/actions.h"

#include <QAction>

namespace fovea::test {

std::vector<Action> all_actions() {
  std::vector<Action> all;
  for (const auto& make : {opening_actions, session_actions, canvas_actions, window_actions,
                           writing_actions, work_actions, live_actions})
    for (Action& action : make()) all.push_back(std::move(action));
  return all;
}

void trigger(Desk& desk, MainWindow& window, const char* name) {
  auto* action = window.findChild<QAction*>(name);
  if (!action) return desk.log().failure(std::string("there is no action ") + name);
  if (action->isEnabled()) action->trigger();
}

}  // namespace fovea::test
