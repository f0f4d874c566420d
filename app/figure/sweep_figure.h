// A SweepFigure shows a Sweep: time, memory and error against n in three plots with one legend, for
// the screen and for files.
#pragma once

#include <QPointF>

#include "figure/figure.h"
#include "panels/sweep_panels.h"

namespace fovea {

struct SweepFigure {
  SweepPanels panels;
  Figure page;  // with its title, footer and style, and no rows yet
};

Figure figure_of(const SweepFigure& sweep);

/// Where points stand, in points of the figure.
std::vector<std::pair<QPointF, SweepSpot>> sweep_spots(const Figure& figure);

}  // namespace fovea
