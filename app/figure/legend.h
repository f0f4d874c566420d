// A Legend is a run of names with their swatches, broken into lines.
#pragma once

#include <optional>
#include <vector>

#include "figure/ink.h"

namespace fovea {

struct LegendItem {
  QString text;
  std::optional<QColor> swatch;
  bool dot = false;  // a dot rather than a box
};

class Legend {
 public:
  Legend() = default;
  Legend(std::vector<LegendItem> items, const Lettering& letters, double width);
  double height() const { return height_; }
  void draw(Ink& ink, QPointF top_left) const;

 private:
  struct Placed {
    LegendItem item;
    QPointF at;  // left, middle
  };
  std::vector<Placed> placed_;
  double height_ = 0;
};

}  // namespace fovea
