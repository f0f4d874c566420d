// The Tour explains the window in six bubbles on the real thing. It can be left at any time.
#pragma once

#include <QFrame>

class QLabel;
class QPushButton;

namespace fovea {

class MainWindow;

class Tour : public QFrame {
  Q_OBJECT

 public:
  explicit Tour(MainWindow& window);

  /// Shows the first bubble.
  void start();
  /// The same at the first start of the program; nothing at later ones.
  void start_once();
  void leave();
  /// The number of the bubble that is shown, from 0.
  int stop() const { return stop_; }
  static int stops();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  void go_to(int stop);
  void place();

  MainWindow& window_;
  QWidget* frame_;  // around what a bubble is about
  QLabel *title_, *text_, *count_;
  QPushButton *back_, *next_;
  int stop_ = 0;
};

}  // namespace fovea
