// A RecordingInk writes down what is drawn, with every place as a share of a frame.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "drawing/bodies.h"
#include "drawing/fixed_lettering.h"

namespace fovea::drawing {

struct Operation {
  std::string kind;  // "text", "fill", ...
  std::string text;  // of texts
  Rect where;
};

class RecordingInk : public Ink {
 public:
  RecordingInk(const Lettering& lettering, const Style& in) : Ink(lettering, in) {}

  void text(Point at, const std::string& words, Rgba, Letters face = {}) override {
    const double width = letters.width(words, face);
    add("text", {at.x, at.y, width, 0}, words);
  }
  void text_upwards(Point centre, const std::string& words, Rgba, Letters = {}) override {
    add("text", {centre.x, centre.y, 0, 0}, words);
  }
  void line(Point from, Point to, const Stroke& stroke) override {
    const Point both[] = {from, to};
    add(stroke.dashed ? "dashed line" : "line", around(both));
  }
  void path(std::span<const Point> points, const Stroke&) override { add("path", around(points)); }
  void fill(const Rect& where, Rgba, double = 0) override { add("fill", where); }
  void fill_all(std::span<const Rect> where, Rgba) override {
    for (const Rect& one : where) add("part", one);
  }
  void outline(const Rect& where, const Stroke&, double = 0) override { add("outline", where); }
  void polygon(std::span<const Point> corners, Rgba) override { add("polygon", around(corners)); }
  void dot(Point centre, double, Rgba) override { add("dot", {centre.x, centre.y, 0, 0}); }
  void raster(const Raster&, const ValueColours&, const RasterPlace& place) override {
    add("raster", place.seen);
  }
  void picture(const OutputPicture&, const Rect& where) override { add("picture", where); }
  void cells(const Rect& where, int, int, std::span<const Rgba>) override { add("cells", where); }
  void push_clip(const Rect&) override {}
  void pop_clip() override {}
  void within(const HalfPlane&, const std::function<void()>& draw) override { draw(); }

  std::vector<Operation> operations;

  std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const Operation& one : operations)
      if (one.kind == "text") all.push_back(one.text);
    std::ranges::sort(all);
    return all;
  }

 private:
  void add(std::string kind, const Rect& where, std::string words = {}) {
    operations.push_back({std::move(kind), std::move(words), where});
  }
  static Rect around(std::span<const Point> points) {
    if (points.empty()) return {};
    double left = points[0].x, right = left, top = points[0].y, bottom = top;
    for (const Point& p : points) {
      left = std::min(left, p.x), right = std::max(right, p.x);
      top = std::min(top, p.y), bottom = std::max(bottom, p.y);
    }
    return {left, top, right - left, bottom - top};
  }
};

/// What the body of a panel draws whose plot is all of it.
inline std::vector<Operation> operations_of(const Panel& panel, const Rect& plot,
                                            const ViewSettings& settings = {}) {
  const FixedLettering letters;
  const PreparedPanel prepared(panel);
  const Axes axes = axes_of(panel, {.size = {plot.width, plot.height}, .letters = letters});
  const auto scale = colour_scale_of(panel, settings);
  RecordingInk ink(letters, screen_style(true));
  draw_body({.ink = ink,
             .prepared = prepared,
             .body = plot,
             .plot = {plot, axes},
             .scale = scale ? &*scale : nullptr,
             .settings = settings});
  return ink.operations;
}

}  // namespace fovea::drawing
