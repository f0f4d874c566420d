// A SweepFigure shows a Sweep: time, memory and error against n in three plots with one legend, for
// the screen and for files.
#pragma once

#include <QPointF>

#include "figure/figure.h"
#include "sweep/sweep.h"

namespace fovea {

/// A point of a series, in all three plots.
struct SweepSpot {
  std::size_t series = 0;
  Index n = 0;
  friend bool operator==(const SweepSpot&, const SweepSpot&) = default;
};

struct SweepFigure {
  Sweep sweep;
  SweepTime time = SweepTime::total;
  std::string title, footer;
  std::string message;  // why there is nothing to see, where that is so
  FigureStyle style;
  std::optional<SweepSpot> marked;
};

Figure figure_of(const SweepFigure& sweep);

/// Where points stand, in points of the figure.
std::vector<std::pair<QPointF, SweepSpot>> sweep_spots(const Figure& figure);

}  // namespace fovea
