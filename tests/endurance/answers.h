// Answers to the dialogs and menus that appear: each is read, written into the log, and accepted,
// refused or closed as the draws have it. Messages of windows are read, too: one that comes though
// nothing wrong was asked for is a failure.
#pragma once

#include <QMap>
#include <QObject>
#include <QPointer>
#include <QWidget>

#include "endurance/desk.h"

class QDialog;
class QFileDialog;
class QInputDialog;
class QMenu;
class QMessageBox;

namespace fovea::test {

class Answers : public QObject {
 public:
  explicit Answers(Desk& desk);
  /// Messages of all windows that are new.
  void read_messages();

 private:
  void look();
  void answer(QWidget& widget);
  void answer_message_box(QMessageBox& box);
  void answer_file_dialog(QFileDialog& dialog);
  void answer_input_dialog(QInputDialog& dialog);
  void answer_other(QDialog& dialog);
  void answer_menu(QMenu& menu);

  Desk& desk_;
  QPointer<QWidget> asked_;
  int times_ = 0;                     // that this dialog was answered
  QMap<QWidget*, QString> messages_;  // that were read last, by window
};

}  // namespace fovea::test
