// A Recording is where everything of a figure is drawn, for laws about layout.
#pragma once

#include <QImage>
#include <QPaintDevice>
#include <QPaintEngine>
#include <QRectF>
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

/// What is drawn, in points.
Recording record(const Figure& figure);

/// One panel in an image of that size, a pixel a point.
QImage picture_of(const Panel& panel, QSize size, const ViewSettings& settings = {});

/// Laws of every page: nothing leaves it, and no text covers another.
void check_page(const Recording& recording);
void check_texts_apart(const Recording& recording);

}  // namespace fovea::example
