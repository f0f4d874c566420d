#include "window/dialogs/keys_dialog.h"

#include <QAction>
#include <QApplication>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QPushButton>
#include <QScrollArea>
#include <QSettings>
#include <QToolButton>
#include <QVBoxLayout>
#include <algorithm>
#include <map>

#include "window/widgets/form.h"

namespace fovea {
namespace {

constexpr const char* standard = "standard_key";  // a property of actions

QString setting_of(const QAction& action) {
  return "keys/" + action.objectName();
}

QKeySequence standard_key(const QAction& action) {
  return action.property(standard).value<QKeySequence>();
}

QString name_of(const QAction& action) {
  return action.text().remove('&').remove("…");
}

}  // namespace

void set_standard_key(QAction& action, const QKeySequence& keys) {
  action.setProperty(standard, QVariant::fromValue(keys));
  const QVariant chosen = QSettings().value(setting_of(action));
  action.setShortcut(chosen.isValid() ? QKeySequence(chosen.toString()) : keys);
}

KeysDialog::KeysDialog(const std::vector<QAction*>& actions, QWidget* parent) : QDialog(parent) {
  setWindowTitle("Keys");
  auto* column = new QVBoxLayout(this);
  column->addWidget(make_note(
      "Click a field and press the new keys. With the mouse on the canvas: dragging selects a "
      "rectangle, a click pins a row, the wheel zooms, dragging with the right button or Space "
      "moves the view, and a double click enlarges a panel. While Shift is held, exact attention "
      "is shown in place of the other columns. A right click on a panel or a title opens a menu."));
  auto* page = new QWidget;
  auto* form = new QFormLayout(page);
  for (QAction* action : actions)
    if (!action->objectName().isEmpty()) form->addRow(name_of(*action), make_row(action));
  auto* scroll = new QScrollArea;
  scroll->setWidget(page);
  scroll->setWidgetResizable(true);
  scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
  column->addWidget(scroll, 1);
  column->addWidget(conflict_ = make_note({}));
  conflict_->setProperty("style", "warning");
  auto* buttons = new QDialogButtonBox(QDialogButtonBox::Save | QDialogButtonBox::Close |
                                       QDialogButtonBox::RestoreDefaults);
  save_ = buttons->button(QDialogButtonBox::Save);
  connect(buttons, &QDialogButtonBox::accepted, this, &KeysDialog::accept);
  connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
  connect(buttons->button(QDialogButtonBox::RestoreDefaults), &QPushButton::clicked, this,
          &KeysDialog::restore);
  column->addWidget(buttons);
  resize(600, 640);
  check();
}

QLayout* KeysDialog::make_row(QAction* action) {
  auto* edit = new QKeySequenceEdit(action->shortcut());
  edit->setObjectName("key_" + action->objectName());
  edit->setAccessibleName(name_of(*action));
  edit->setToolTip("Standard: " + standard_key(*action).toString());
  auto* none = make_sign_button("✕", "No key for " + name_of(*action), "No key");
  connect(none, &QToolButton::clicked, edit, &QKeySequenceEdit::clear);
  connect(edit, &QKeySequenceEdit::keySequenceChanged, this,
          [this, edit](const QKeySequence& keys) {
            if (keys.count() > 1)
              return edit->setKeySequence(keys[keys.count() - 1]);  // the last counts
            check();
          });
  rows_.push_back({action, edit});
  auto* line = new QHBoxLayout;
  line->addWidget(edit, 1);
  line->addWidget(none);
  return line;
}

QString KeysDialog::conflict() const {
  std::map<QString, QStringList> users;
  for (const Row& row : rows_)
    if (const QKeySequence keys = row.edit->keySequence(); !keys.isEmpty())
      users[keys.toString()] << name_of(*row.action);
  QStringList conflicts;
  for (const auto& [keys, names] : users)
    if (names.size() > 1) conflicts << keys + ": " + names.join(", ");
  return conflicts.join("; ");
}

void KeysDialog::check() {
  const QString twice = conflict();
  conflict_->setText(twice.isEmpty() ? QString() : "One key cannot mean two things. " + twice);
  conflict_->setVisible(!twice.isEmpty());
  save_->setEnabled(twice.isEmpty());
}

void KeysDialog::restore() {
  for (const Row& row : rows_) row.edit->setKeySequence(standard_key(*row.action));
}

void KeysDialog::accept() {
  if (!conflict().isEmpty()) return;
  QSettings settings;
  for (const auto& [action, edit] : rows_) {
    const QKeySequence keys = edit->keySequence();
    action->setShortcut(keys);
    for (QWidget* window : QApplication::topLevelWidgets())
      if (auto* same = window->findChild<QAction*>(action->objectName())) same->setShortcut(keys);
    if (keys == standard_key(*action))
      settings.remove(setting_of(*action));
    else
      settings.setValue(setting_of(*action), keys.toString());
  }
  QDialog::accept();
}

}  // namespace fovea

#include "moc_keys_dialog.cpp"
