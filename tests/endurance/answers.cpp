#include "endurance/answers.h"

#include <QApplication>
#include <QCheckBox>
#include <QComboBox>
#include <QDialogButtonBox>
#include <QDir>
#include <QDoubleSpinBox>
#include <QFileDialog>
#include <QInputDialog>
#include <QLineEdit>
#include <QMenu>
#include <QMessageBox>
#include <QPushButton>
#include <QRegularExpression>
#include <QTest>
#include <QTimer>

namespace fovea::test {
namespace {

constexpr int most_answers = 4;  // then a dialog is closed

/// What the program tells although nothing is wrong, and what follows from a choice that a person
/// may make: each says so, and why.
bool is_known(const QString& message) {
  static const QRegularExpression known(
      "^Cancelled\\.$"
      "|^memory budget '.*'; expected a size"
      "|^Columns that blink are exported side by side"
      "|is sent by a running program and is no file"
      "|holds only an attention matrix; variants need Q, K and V"
      "|no tree can be learned from it: learning (knows no|expects)"
      "|^alpha has \\d+ values?; expected h \\+ 1 = \\d+$"
      "|^the tree has \\d+ leaves; expected at most \\d+ in a tree that learns$"
      "|^This source cannot show .* with a source that can"
      "|carries no session: it was written without one"
      "|^(Go to|Scale|Sliding window|Soft cap) “.*”: expected ");
  return known.match(message).hasMatch();
}

}  // namespace

Answers::Answers(Desk& desk) : desk_(desk) {
  look();
}

void Answers::look() {
  QTimer::singleShot(50, this, [this] {
    look();  // first: an answer may open another dialog, and returns when that one is closed
    read_messages();
    QWidget* widget = QApplication::activePopupWidget();
    if (!widget) widget = QApplication::activeModalWidget();
    if (!widget) return;
    if (widget != asked_) times_ = 0;
    asked_ = widget;
    answer(*widget);
  });
}

void Answers::read_messages() {
  for (MainWindow* window : desk_.windows()) {
    const QString message = window->info_bar().message();
    if (messages_.value(window) == message) continue;
    messages_[window] = message;
    if (message.isEmpty()) continue;
    desk_.log().line("  message: " + message.toStdString());
    if (!desk_.message_expected() && !is_known(message))
      desk_.log().failure("a message though nothing was wrong: " + message.toStdString());
  }
}

void Answers::answer(QWidget& widget) {
  if (++times_ > most_answers) {
    desk_.log().line("  closed: " + widget.windowTitle().toStdString());
    widget.close();
    return;
  }
  if (auto* menu = qobject_cast<QMenu*>(&widget)) return answer_menu(*menu);
  if (auto* box = qobject_cast<QMessageBox*>(&widget)) return answer_message_box(*box);
  if (auto* files = qobject_cast<QFileDialog*>(&widget)) return answer_file_dialog(*files);
  if (auto* input = qobject_cast<QInputDialog*>(&widget)) return answer_input_dialog(*input);
  if (auto* dialog = qobject_cast<QDialog*>(&widget)) return answer_other(*dialog);
  widget.close();  // the list of a choice
}

void Answers::answer_menu(QMenu& menu) {
  QList<QAction*> entries;
  for (QAction* action : menu.actions())
    if (action->isEnabled() && action->isVisible() && !action->isSeparator() && !action->menu())
      entries << action;
  if (entries.isEmpty() || desk_.draws().chance(0.3)) {
    menu.close();
    return;
  }
  QAction* chosen = desk_.draws().one_of(entries);
  desk_.log().line("  menu: " + chosen->text().toStdString());
  menu.setActiveAction(chosen);
  QTest::keyClick(&menu, Qt::Key_Return);
}

void Answers::answer_message_box(QMessageBox& box) {
  desk_.log().line("  box: " + box.windowTitle().toStdString() + ": " + box.text().toStdString());
  if (box.icon() == QMessageBox::Critical || box.icon() == QMessageBox::Warning)
    desk_.log().failure("a box says that something is wrong: " + box.text().toStdString());
  desk_.draws().one_of(box.buttons())->click();
}

void Answers::answer_file_dialog(QFileDialog& dialog) {
  Draws& draws = desk_.draws();
  if (draws.chance(0.25)) return dialog.reject();
  auto* line = dialog.findChild<QLineEdit*>();
  QAbstractButton* accept = nullptr;
  QString path;
  if (dialog.acceptMode() == QFileDialog::AcceptSave) {
    if (auto* kinds = dialog.findChild<QComboBox*>("fileTypeCombo"); kinds && kinds->count() > 0)
      kinds->setCurrentIndex(draws.below(kinds->count()));
    path = desk_.files().at(QString("by-hand-%1").arg(draws.below(3)));
    accept = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Save);
  } else {
    if (dialog.windowTitle() == "Open a policy") desk_.expect_message();  // the file is none
    const bool folder = dialog.fileMode() == QFileDialog::Directory;
    path = folder ? desk_.files().at("arrays") : draws.one_of(desk_.files().good);
    if (!folder && QFileInfo(path).isDir()) path = desk_.files().good.front();
    accept = dialog.findChild<QDialogButtonBox*>()->button(QDialogButtonBox::Open);
    if (!accept) accept = dialog.findChild<QDialogButtonBox*>()->buttons().value(0);
  }
  desk_.log().line("  file: " + path.toStdString());
  line->setText(path);
  if (accept) accept->click();
}

void Answers::answer_input_dialog(QInputDialog& dialog) {
  Draws& draws = desk_.draws();
  if (draws.chance(0.3)) return dialog.reject();
  if (auto* line = dialog.findChild<QLineEdit*>(); line && line->isVisible()) {
    static const QStringList texts{"", "3, 5", "0", "1", "16", "0.25", "7", "-3", "wide", "1e9"};
    const bool address = dialog.windowTitle() == "Open an address";
    const bool good = address && draws.chance(0.7);
    line->setText(good ? "synthetic:smooth?n=48&d=8&seed=2" : draws.one_of(texts));
    if (address && !good) desk_.expect_message();
  }
  desk_.log().line("  input: " + dialog.windowTitle().toStdString() + ": " +
                   dialog.textValue().toStdString());
  dialog.accept();
}

void Answers::answer_other(QDialog& dialog) {
  Draws& draws = desk_.draws();
  desk_.log().line("  dialog: " + dialog.windowTitle().toStdString());
  for (auto* box : dialog.findChildren<QComboBox*>())
    if (draws.chance(0.5)) QTest::keyClick(box, draws.chance(0.5) ? Qt::Key_Down : Qt::Key_End);
  for (auto* box : dialog.findChildren<QCheckBox*>())
    if (draws.chance(0.5)) box->click();
  for (auto* box : dialog.findChildren<QSpinBox*>())
    if (draws.chance(0.3)) box->setValue(draws.from_to(72, 200));
  if (draws.chance(0.5))
    dialog.accept();
  else
    dialog.reject();
}

}  // namespace fovea::test
