// The WheelRule lets the wheel scroll the page around a field that has no focus: nobody changes a
// number by scrolling past it.
#pragma once

#include <QObject>

namespace fovea {

/// To be installed as an event filter of the application. Holds for number fields and lists of
/// choices.
class WheelRule : public QObject {
  Q_OBJECT

 public:
  using QObject::QObject;
  bool eventFilter(QObject* watched, QEvent* event) override;
};

}  // namespace fovea
