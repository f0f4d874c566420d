#include "window/widgets/find_bar.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QLineEdit>
#include <QToolButton>

#include "window/widgets/theme.h"

namespace fovea {

FindBar::FindBar(QWidget* parent) : QFrame(parent) {
  setObjectName("find_bar");
  setAccessibleName("Find a token");
  auto* row = new QHBoxLayout(this);
  row->setContentsMargins(12, rhythm / 2, rhythm, rhythm / 2);
  auto* label = new QLabel("Token", this);
  row->addWidget(label);
  row->addWidget(line_ = new QLineEdit(this), 1);
  label->setBuddy(line_);
  line_->setObjectName("find_text");
  line_->setAccessibleName("Text in the token");
  line_->setPlaceholderText("text in it; Enter: next, Shift+Enter: previous, Esc: close");
  line_->setMaximumWidth(420);
  line_->installEventFilter(this);
  connect(line_, &QLineEdit::textChanged, this, &FindBar::searched);
  const auto button = [&](const char* sign, const char* name, auto slot) {
    auto* made = new QToolButton(this);
    made->setText(sign);
    made->setToolTip(name);
    made->setAccessibleName(name);
    made->setFocusPolicy(Qt::TabFocus);
    connect(made, &QToolButton::clicked, this, slot);
    row->addWidget(made);
  };
  button("▲", "Previous match (Shift+F3)", [this] { emit stepped(-1); });
  button("▼", "Next match (F3)", [this] { emit stepped(1); });
  row->addWidget(found_ = make_note({}, this), 1);
  found_->setWordWrap(false);
  button("✕", "Close the search", [this] { close_bar(); });
  hide();
}

void FindBar::open_bar() {
  show();
  line_->setFocus(Qt::ShortcutFocusReason);
  line_->selectAll();
  emit searched(line_->text());
}

QString FindBar::text() const {
  return line_->text();
}

void FindBar::show_result(const QString& found) {
  found_->setText(found);
  line_->setAccessibleDescription(found);
}

bool FindBar::eventFilter(QObject* watched, QEvent* event) {
  // Before any shortcut of the window takes them.
  if (event->type() == QEvent::ShortcutOverride || event->type() == QEvent::KeyPress) {
    const auto* key = static_cast<QKeyEvent*>(event);
    const bool enter = key->key() == Qt::Key_Return || key->key() == Qt::Key_Enter;
    if (!enter && key->key() != Qt::Key_Escape) return QFrame::eventFilter(watched, event);
    event->accept();
    if (event->type() == QEvent::ShortcutOverride) return true;
    if (enter)
      emit stepped(key->modifiers() & Qt::ShiftModifier ? -1 : 1);
    else
      close_bar();
    return true;
  }
  return QFrame::eventFilter(watched, event);
}

void FindBar::close_bar() {
  hide();
  emit closed();
}

}  // namespace fovea
