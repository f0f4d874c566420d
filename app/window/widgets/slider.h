// A Slider is a QSlider whose whole track can be grabbed: a press jumps there and drags on, a notch
// of the wheel is a step, and a double click asks for the value that is usual.
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

  int turned_ = 0;  // by the wheel, in eighths of a degree, of a notch that is not whole yet
};

}  // namespace fovea
