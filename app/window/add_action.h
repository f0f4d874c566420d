// Adds actions to the window: entries of menus, and keys.
#pragma once

#include <QKeySequence>
#include <QString>
#include <functional>

class QAction;
class QMenu;

namespace fovea {

class MainWindow;

using Command = std::function<void()>;

struct Keys : QKeySequence {
  using QKeySequence::QKeySequence;
  Keys(const char* keys) : QKeySequence(QString(keys)) {}
};

/// Adds an action, only as a key if there is no menu. Its key is remembered under `name`.
QAction* add_action(MainWindow& window, QMenu* menu, const QString& name, const QString& text,
                    const Keys& keys, Command run);

}  // namespace fovea
