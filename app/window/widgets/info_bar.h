// The InfoBar shows a message over the canvas until it is dismissed; it never takes the focus.
#pragma once

#include <QFrame>
#include <functional>

class QLabel;
class QPushButton;

namespace fovea {

class InfoBar : public QFrame {
  Q_OBJECT

 public:
  explicit InfoBar(QWidget* parent = nullptr);
  void show_message(const QString& message);
  /// Shows a message with a button that offers a remedy.
  void offer(const QString& message, const QString& remedy, std::function<void()> apply);
  QString message() const;

 private:
  QLabel* label_;
  QPushButton* remedy_;
  std::function<void()> apply_;
};

}  // namespace fovea
