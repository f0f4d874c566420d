#include "window/widgets/slider.h"

#include <QMouseEvent>
#include <QStyle>
#include <QStyleOptionSlider>
#include <QWheelEvent>

namespace fovea {

Slider::Slider(QWidget* parent) : QSlider(Qt::Horizontal, parent) {
  constexpr int easy_to_hit = 20;  // pixels
  setMinimumHeight(easy_to_hit);
}

// The handle's middle follows the pointer.
int Slider::value_at(double x) const {
  QStyleOptionSlider option;
  initStyleOption(&option);
  const auto part = [&](QStyle::SubControl which) {
    return style()->subControlRect(QStyle::CC_Slider, &option, which, this);
  };
  const QRect track = part(QStyle::SC_SliderGroove);
  const int handle = part(QStyle::SC_SliderHandle).width();
  return QStyle::sliderValueFromPosition(minimum(), maximum(), int(x) - track.left() - handle / 2,
                                         track.width() - handle, option.upsideDown);
}

void Slider::mousePressEvent(QMouseEvent* event) {
  event->setAccepted(event->button() == Qt::LeftButton);
  if (!event->isAccepted()) return;
  setSliderDown(true);
  setSliderPosition(value_at(event->position().x()));
}

void Slider::mouseMoveEvent(QMouseEvent* event) {
  event->setAccepted(isSliderDown());
  if (isSliderDown()) setSliderPosition(value_at(event->position().x()));
}

void Slider::mouseReleaseEvent(QMouseEvent* event) {
  event->setAccepted(event->button() == Qt::LeftButton);
  if (event->isAccepted()) setSliderDown(false);
}

void Slider::mouseDoubleClickEvent(QMouseEvent* event) {
  event->setAccepted(event->button() == Qt::LeftButton);
  if (event->isAccepted()) emit reset_requested();
}

// Without the focus, the wheel scrolls the area around the slider.
void Slider::wheelEvent(QWheelEvent* event) {
  if (!hasFocus()) return event->ignore();
  constexpr int notch = 120;
  turned_ += event->angleDelta().y() != 0 ? event->angleDelta().y() : event->angleDelta().x();
  const int steps = turned_ / notch;
  turned_ -= steps * notch;
  if (steps != 0) setValue(value() + steps * singleStep());
  event->accept();
}

}  // namespace fovea

#include "moc_slider.cpp"
