#include "window/add_action.h"

#include <QAction>
#include <QMenu>

#include "window/dialogs/keys_dialog.h"
#include "window/main_window.h"

namespace fovea {

QAction* add_action(MainWindow& window, QMenu* menu, const QString& name, const QString& text,
                    const Keys& keys, Command run) {
  auto* action = new QAction(text, &window);
  action->setObjectName(name);
  if (!name.isEmpty()) set_standard_key(*action, keys);
  QObject::connect(action, &QAction::triggered, action, [run = std::move(run)] { run(); });
  if (menu)
    menu->addAction(action);
  else
    window.addAction(action);
  return action;
}

}  // namespace fovea
