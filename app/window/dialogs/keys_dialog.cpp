#include "window/dialogs/keys_dialog.h"

#include <QAction>
#include <QApplication>
#include <QDialogButtonBox>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QKeySequenceEdit>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
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

// Properties of actions.
constexpr const char *standard = "standard_key", *first_name = "first_name";

QString setting_of(const QAction& action) {
  return "keys/" + action.objectName();
}

QKeySequence standard_key(const QAction& action) {
  return action.property(standard).value<QKeySequence>();
}

/// As the action is called at first: names of some go on with what they will do next.
QString name_of(const QAction& action) {
  return action.property(first_name).toString().remove('&').remove("…");
}

/// The title of the menu bar's menu that holds the action; empty if none does.
QString group_of(const QAction& action) {
  QString title;
  const QAction* inner = &action;
  for (bool found = true; found;) {
    found = false;
    for (QObject* holder : inner->associatedObjects())
      // The menu of what a menu bar has no room for has no title.
      if (const auto* menu = qobject_cast<QMenu*>(holder); menu && !menu->title().isEmpty()) {
        title = menu->title().remove('&');
        inner = menu->menuAction();
        found = true;
        break;
      }
  }
  return title;
}

}  // namespace

void set_standard_key(QAction& action, const QKeySequence& keys) {
  action.setProperty(standard, QVariant::fromValue(keys));
  action.setProperty(first_name, action.text());
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
  auto* search = new QLineEdit;
  search->setObjectName("search_keys");
  search->setPlaceholderText("Search names and keys");
  search->setClearButtonEnabled(true);
  connect(search, &QLineEdit::textChanged, this, &KeysDialog::show_found);
  column->addWidget(search);
  auto* page = new QWidget;
  form_ = new QFormLayout(page);
  add_groups(actions);
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

/// A heading for each menu, with its actions below, in the order of the menu bar.
void KeysDialog::add_groups(const std::vector<QAction*>& actions) {
  QStringList groups;
  for (const QAction* action : actions)
    if (const QString group = group_of(*action);
        !action->objectName().isEmpty() && !groups.contains(group))
      groups << group;
  if (groups.removeAll(QString()) > 0) groups << QString();
  for (const QString& group : groups) {
    headings_.push_back(make_heading(group.isEmpty() ? "Other" : group));
    form_->addRow(headings_.back());
    for (QAction* action : actions)
      if (!action->objectName().isEmpty() && group_of(*action) == group) {
        QLayout* row = make_row(action);
        form_->addRow(name_of(*action), row);
        rows_.back().heading = headings_.back();
        rows_.back().place = row;
      }
  }
}

/// Actions whose names, or keys, have the words; with their headings.
void KeysDialog::show_found(const QString& words) {
  for (QLabel* heading : headings_) {
    bool any = false;
    for (const Row& row : rows_) {
      if (row.heading != heading) continue;
      const QString text = name_of(*row.action) + " " + row.edit->keySequence().toString();
      const bool found = text.contains(words.trimmed(), Qt::CaseInsensitive);
      form_->setRowVisible(row.place, found);
      any |= found;
    }
    form_->setRowVisible(heading, any);
  }
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
  rows_.push_back({.action = action, .edit = edit});
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
  for (const Row& row : rows_) {
    QAction* const action = row.action;
    QKeySequenceEdit* const edit = row.edit;
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
