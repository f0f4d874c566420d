// A ColourBar explains the colours of a ColourScale: a bar with numbers, or swatches with names.
#pragma once

#include "drawing/colour_scale.h"
#include "drawing/legend.h"
#include "drawing/ticks.h"

namespace fovea::drawing {

class ColourBar {
 public:
  /// The label stands beside the bar or beneath it; upright bars have it at their right.
  enum class Form { beside, beneath, upright };
  struct Request {
    double width = 0;
    Form form = Form::beneath;
    double length = 0;  // of an upright bar with everything below it
    double bar = 0;     // longest upright bar; 0 means `length`
  };
  ColourBar(const ColourScale& scale, const Lettering& letters, const Request& request);

  double height() const { return height_; }
  void draw(Ink& ink, Point top_left) const;

  const ColourScale& scale() const { return scale_; }
  /// Where the colours of the range are, from the top left of the whole; empty means swatches only.
  Rect gradient() const;
  bool is_upright() const { return form_ == Form::upright; }
  const Legend& legend() const { return legend_; }
  Point legend_at() const { return legend_at_; }

 private:
  struct Number {
    std::string text;
    double at = 0;  // of the tick, along the bar
    Rect box;
  };
  void lay_out_categories(const Lettering& letters, double width);
  void lay_out_flat(const Lettering& letters, double width);
  void lay_out_upright(const Lettering& letters, const Request& request);
  Legend make_legend(const Lettering& letters, double width) const;
  std::vector<Tick> ticks(int most) const;
  double share_of(double value) const;
  std::vector<Number> numbers(const Lettering& letters) const;
  void draw_gradient(Ink& ink, Point top_left) const;
  void draw_ends(Ink& ink, Point top_left) const;
  void draw_numbers(Ink& ink, Point top_left) const;

  ColourScale scale_;
  Form form_;
  double height_ = 0;
  double arrow_ = 0;  // length of the heads for values outside the range
  Rect bar_;          // with its heads
  Rect label_;
  std::vector<std::string> label_lines_;
  Legend legend_;
  Point legend_at_;
};

}  // namespace fovea::drawing
