// The GlossaryDialog explains the words of the program: views, attentions, and the terms of the
// papers with the figures that show them.
#pragma once

#include <QDialog>

class QLineEdit;
class QTextBrowser;

namespace fovea {

class GlossaryDialog : public QDialog {
  Q_OBJECT

 public:
  explicit GlossaryDialog(QWidget* parent);

 private:
  void show_matching(const QString& words);

  QLineEdit* search_;
  QTextBrowser* text_;
};

}  // namespace fovea
