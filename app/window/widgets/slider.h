// A Slider is a QSlider whose whole track can be grabbed: a press jumps to the place and drags on,
// a notch of the wheel is a step, and a double click asks for the standard value.
#pragma once

#include <QSlider>

namespace fovea {

class Slider : public QSlider {
  Q_OBJECT

 public:
  explicit Slider(QWidget* parent = nullptr);

 signals:
  void reset_requested();

 protected:
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;

 private:
  int value_at(double x) const;

  int turned_ = 0;  // by the wheel since the last whole notch, in eighths of a degree
};

}  // namespace fovea
