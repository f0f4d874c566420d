// A SweepLayout says where everything in a SweepFigure lies, in points.
#pragma once

#include "figure/painter_ink.h"
#include "figure/sweep_axis.h"
#include "figure/sweep_figure.h"

namespace fovea {

/// A point of a curve with its bar from p10 to p90.
struct SweepDot {
  SweepSpot spot;
  std::size_t length = 0;  // its place among the lengths
  Point at;
  double low = 0, high = 0;  // heights of the ends of the bar
  bool fitted = false;       // drawn hollow
  bool weak = false;         // few runs or a slow machine: lines to it are dotted
};

/// From where on a series is faster than exact.
struct SweepMark {
  std::size_t series = 0;
  Point at;
  std::string text;
  Rect box;  // of the text
};

struct SweepPlotLayout {
  std::string heading, empty;  // empty: why there is no curve
  Rect heading_box, plot;
  PanelAxis x, y;                             // without y's ticks:
  std::vector<Tick> y_ticks;                  // at heights in points
  std::optional<double> zero;                 // height of values that a logarithm cannot show
  std::vector<std::vector<SweepDot>> curves;  // by series
  std::vector<SweepMark> marks;
};

struct SweepLegendItem {
  std::string name, reading;
  Point at;  // left, middle
  double name_width = 0;
};

struct SweepLayout {
  Point size;
  std::vector<std::string> title, notes, message;  // message: instead of all but the title
  Rect title_box, notes_box, message_box;
  std::vector<SweepLegendItem> legend;  // by series
  std::vector<SweepPlotLayout> plots;   // time, memory, error
};

SweepLayout lay_out(const SweepFigure& figure, const PaperLettering& letters);

/// Length of the line with its marker in the legend.
double legend_sample(const Lettering& letters);

}  // namespace fovea
