// Everything in a drawing is drawn with an Ink: that of a figure uses a QPainter, that of the
// canvas an ImGui draw list, and that of a test writes down what is drawn.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "drawing/colormap.h"
#include "drawing/lettering.h"
#include "drawing/style.h"

namespace fovea::drawing {

enum class Align { left, centre, right };

struct Stroke {
  Rgba colour;
  double width = 0;  // 0 means the style's hair
  bool dashed = false;
};

/// Which part of a raster is drawn where.
struct RasterPlace {
  Rect whole;  // where all of it would lie
  Rect seen;   // the part that is drawn
  /// What a pixel over several numbers shows, unless the raster is pooled already.
  Pool::Kind pool = Pool::Kind::mean;
};

class Ink {
 public:
  Ink(const Lettering& lettering, const Style& colours) : letters(lettering), style(colours) {}
  virtual ~Ink() = default;
  Ink(const Ink&) = delete;
  Ink& operator=(const Ink&) = delete;

  /// One line; `at` is its left end, in the middle of the height of capitals.
  virtual void text(Point at, const std::string& words, Rgba colour, Letters face = {}) = 0;
  /// Reads from below to above, centred at a point.
  virtual void text_upwards(Point centre, const std::string& words, Rgba colour,
                            Letters face = {}) = 0;
  virtual void line(Point from, Point to, const Stroke& stroke) = 0;
  virtual void path(std::span<const Point> points, const Stroke& stroke) = 0;
  virtual void fill(const Rect& where, Rgba colour, double rounding = 0) = 0;
  /// Rectangles of one colour as one shape: no seams where they touch.
  virtual void fill_all(std::span<const Rect> where, Rgba colour) = 0;
  virtual void outline(const Rect& where, const Stroke& stroke, double rounding = 0) = 0;
  /// Convex.
  virtual void polygon(std::span<const Point> corners, Rgba colour) = 0;
  virtual void dot(Point centre, double radius, Rgba colour) = 0;
  /// Values in their colours, each a cell with hard edges.
  virtual void raster(const Raster& values, const ValueColours& colours,
                      const RasterPlace& place) = 0;
  virtual void picture(const OutputPicture& picture, const Rect& where) = 0;
  /// A few cells of given colours; transparent ones are left out. [rows, cols]
  virtual void cells(const Rect& where, int rows, int cols, std::span<const Rgba> colours) = 0;
  virtual void push_clip(const Rect& where) = 0;
  virtual void pop_clip() = 0;
  /// Draws the part of what `draw` draws that lies within a half-plane. Calls are not nested.
  virtual void within(const HalfPlane& where, const std::function<void()>& draw) = 0;

  /// One line, vertically centred in the rectangle; it is never cut: elide before.
  virtual void write(const Rect& where, const std::string& words, Align align, Rgba colour,
                     Letters face = {});
  /// From the top of the rectangle downwards.
  void write_lines(const Rect& where, const std::vector<std::string>& lines, Align align,
                   Rgba colour, Letters face = {});
  /// Wrapped and centred in the rectangle.
  void write_paragraph(const Rect& where, const std::string& words, Rgba colour, Letters face = {});

  const Lettering& letters;
  const Style style;
};

/// Clips to a rectangle while it lives.
class Clip {
 public:
  Clip(Ink& ink, const Rect& where) : ink_(ink) { ink_.push_clip(where); }
  ~Clip() { ink_.pop_clip(); }
  Clip(const Clip&) = delete;
  Clip& operator=(const Clip&) = delete;

 private:
  Ink& ink_;
};

}  // namespace fovea::drawing
