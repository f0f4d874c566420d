// A Recorder is a page that notes where everything is drawn, for laws about layout.
#pragma once

#include <QPaintDevice>
#include <QPaintEngine>
#include <QString>
#include <memory>
#include <vector>

#include "figure/figure.h"

namespace fovea::example {

struct DrawnText {
  QString text;
  QRectF where;  // from baseline to the height of capitals
};

struct Recording {
  QRectF page;
  std::vector<DrawnText> texts;
  std::vector<QRectF> shapes;
};

/// What draw_figure draws, in points.
Recording record(const Figure& figure);

}  // namespace fovea::example
