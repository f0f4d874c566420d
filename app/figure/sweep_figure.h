// A SweepFigure shows a Sweep: time, memory and error against n in three plots with one legend, for
// the screen and for files.
#pragma once

#include <QPointF>
#include <optional>
#include <string>
#include <vector>

#include "figure/drawing.h"
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

/// Height in points that it takes at its width.
double sweep_figure_height(const SweepFigure& figure);

/// Draws in points, top left at the painter's origin.
void draw_sweep_figure(QPainter& painter, const SweepFigure& figure);

/// Where points stand.
std::vector<std::pair<QPointF, SweepSpot>> sweep_spots(const SweepFigure& figure);

/// Colours of the series, exact first; the colour blind can distinguish them, and their markers
/// differ.
QColor series_colour(std::size_t series, bool dark);

/// What a person must know to read it: what was fitted, left out, refused, or measured badly.
std::vector<std::string> sweep_notes(const Sweep& sweep);

Drawing drawing_of(const SweepFigure& figure);

}  // namespace fovea
