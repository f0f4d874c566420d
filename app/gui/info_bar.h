// The InfoBar tells of a trouble above the canvas until it is dismissed; it never takes the focus.
#pragma once

#include <QFrame>

class QLabel;

namespace fovea {

class InfoBar : public QFrame {
  Q_OBJECT

 public:
  explicit InfoBar(QWidget* parent = nullptr);
  void say(const QString& message);
  QString message() const;

 private:
  QLabel* label_;
};

}  // namespace fovea
