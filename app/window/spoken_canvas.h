// The SpokenCanvas says in words what the canvas shows, for screen readers: the selected column's
// numbers, and the pair under the crosshair.
#pragma once

#include <QObject>
#include <memory>

#include "panels/readings.h"

namespace fovea {

class Canvas;
class Study;

class SpokenCanvas : public QObject {
  Q_OBJECT

 public:
  SpokenCanvas(Study& study, Canvas& canvas);

 private:
  void say();
  QString of_column() const;
  QString of_pair() const;

  Study& study_;
  Canvas& canvas_;
  std::shared_ptr<const PairReading> pair_;
};

}  // namespace fovea
