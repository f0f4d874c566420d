// The FindBar searches tokens above the canvas: what matches is marked, one match is gone to.
#pragma once

#include <QFrame>

class QLabel;
class QLineEdit;

namespace fovea {

class FindBar : public QFrame {
  Q_OBJECT

 public:
  explicit FindBar(QWidget* parent = nullptr);
  /// Shows itself and takes the focus; the text of before is selected.
  void open_bar();
  void close_bar();
  QString text() const;
  /// "3 of 17", "no matches".
  void show_result(const QString& found);

 signals:
  void searched(const QString& text);
  void stepped(int by);  // to the next match or back
  void closed();

 protected:
  bool eventFilter(QObject* watched, QEvent* event) override;

 private:
  QLineEdit* line_;
  QLabel* found_;
};

}  // namespace fovea
