// The StatusLine says in the status bar what is computed and of which head, with a button to
// cancel.
#pragma once

#include <QString>

class QLabel;
class QMainWindow;
class QProgressBar;
class QToolButton;

namespace fovea {

class Study;

class StatusLine {
 public:
  StatusLine(QMainWindow& window, Study& study);

  /// Source, head and back end in words; empty: nothing is open.
  QString provenance() const;

 private:
  void refresh();
  void refresh_head();

  QMainWindow& window_;
  Study& study_;
  QLabel *text_, *head_;
  QProgressBar* progress_;
  QToolButton* cancel_;
};

}  // namespace fovea
