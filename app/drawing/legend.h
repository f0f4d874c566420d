// A Legend is a run of names with their swatches, broken into lines; a long name has several. A
// click hides what a name stands for; the name stays, faintly.
#pragma once

#include <optional>
#include <vector>

#include "drawing/ink.h"

namespace fovea::drawing {

struct LegendItem {
  std::string text;
  std::optional<Rgba> swatch = {};
  bool dot = false;       // a dot rather than a box
  std::string name = {};  // what the item shows or hides; empty if it cannot be hidden
  bool hidden = false;
  std::optional<std::size_t> series = {};  // the series whose marker stands in place of a swatch
  bool line = true;                        // the marker stands on a piece of its curve
};

class Legend {
 public:
  Legend() = default;
  Legend(std::vector<LegendItem> items, const Lettering& letters, double width);
  double height() const { return height_; }
  /// Right end of the last line.
  double last_width() const { return last_width_; }
  void draw(Ink& ink, Point top_left) const;
  struct Switch {
    std::string name;
    bool hidden = false;
    Rect where;  // from the top left of the legend
  };
  /// The items that can be hidden.
  std::vector<Switch> switches() const;

 private:
  struct Placed {
    LegendItem item;
    std::vector<std::string> lines;  // of its text
    Point at;                        // left, middle of the first line
    double width;
  };
  std::vector<Placed> placed_;
  double height_ = 0, last_width_ = 0, line_ = 0;
};

/// A piece of a series' curve, and one of its markers.
void draw_series_sample(Ink& ink, const Rect& where, std::size_t series);
void draw_series_marker(Ink& ink, Point centre, std::size_t series);

}  // namespace fovea::drawing
