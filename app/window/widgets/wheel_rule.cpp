#include "window/widgets/wheel_rule.h"

#include <QAbstractSpinBox>
#include <QComboBox>
#include <QEvent>

namespace fovea {

bool WheelRule::eventFilter(QObject* watched, QEvent* event) {
  const bool turned = event->type() == QEvent::Wheel;
  if (!turned && event->type() != QEvent::Polish) return false;
  if (!qobject_cast<QAbstractSpinBox*>(watched) && !qobject_cast<QComboBox*>(watched)) return false;
  auto* field = static_cast<QWidget*>(watched);
  if (!turned) {  // the field is shown for the first time
    if (field->focusPolicy() == Qt::WheelFocus) field->setFocusPolicy(Qt::StrongFocus);
    return false;
  }
  if (field->hasFocus()) return false;
  event->ignore();  // the parent takes it
  return true;
}

}  // namespace fovea

#include "moc_wheel_rule.cpp"
