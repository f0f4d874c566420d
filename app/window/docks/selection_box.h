// The SelectionBox compares exact attention and the selected column in the rectangle that is
// selected on the canvas.
#pragma once

#include <QWidget>
#include <memory>

#include "panels/readings.h"

class QLabel;

namespace fovea {

class Readings;
class Study;

class SelectionBox : public QWidget {
  Q_OBJECT

 public:
  explicit SelectionBox(Study& study);

 private:
  void show_reading(const SelectionReading& reading);

  Study& study_;
  QLabel* compared_;
  Readings* readings_;
};

}  // namespace fovea
