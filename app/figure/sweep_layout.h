// A SweepLayout says where everything in a SweepFigure lies, in points.
#pragma once

#include "figure/axes.h"
#include "figure/sweep_figure.h"

namespace fovea {

/// A point of a curve with its bar from p10 to p90.
struct SweepDot {
  SweepSpot spot;
  std::size_t length = 0;  // its place among the lengths
  QPointF at;
  double low = 0, high = 0;  // heights of the ends of the bar
  bool fitted = false;       // drawn hollow
  bool weak = false;         // few runs or a slow machine: lines to it are dotted
};

/// From where on a series is faster than exact.
struct SweepMark {
  std::size_t series = 0;
  QPointF at;
  QString text;
  QRectF box;  // of the text
};

struct SweepPlotLayout {
  QString heading, empty;  // empty: why there is no curve
  QRectF heading_box, plot;
  PanelAxis x, y;                             // without y's ticks:
  std::vector<Tick> y_ticks;                  // at heights in points
  std::optional<double> zero;                 // height of values that a logarithm cannot show
  std::vector<std::vector<SweepDot>> curves;  // by series
  std::vector<SweepMark> marks;
};

struct SweepLegendItem {
  QString name, reading;
  QPointF at;  // left, middle
  double name_width = 0;
};

struct SweepLayout {
  QSizeF size;
  QStringList title, notes, message;  // message: instead of all but the title
  QRectF title_box, notes_box, message_box;
  std::vector<SweepLegendItem> legend;  // by series
  std::vector<SweepPlotLayout> plots;   // time, memory, error
};

SweepLayout lay_out(const SweepFigure& figure);

/// Length of the line with its marker in the legend.
double legend_sample(const Lettering& letters);

}  // namespace fovea
