// A NotingInk writes a line for everything that is drawn: what, in which colour, how wide, and
// where, with a decimal.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "drawing/ink.h"

namespace fovea::drawing {

class NotingInk : public Ink {
 public:
  using Ink::Ink;

  void text(Point at, const std::string& words, Rgba colour, Letters face = {}) override {
    note("words \"" + words + "\" of size " + number(letters.size(face)) + in(colour), {at});
  }
  void text_upwards(Point centre, const std::string& words, Rgba colour,
                    Letters face = {}) override {
    note("upward words \"" + words + "\" of size " + number(letters.size(face)) + in(colour),
         {centre});
  }
  void line(Point from, Point to, const Stroke& stroke) override {
    note("line" + of(stroke), {from, to});
  }
  void path(std::span<const Point> points, const Stroke& stroke) override {
    note("path" + of(stroke), points);
  }
  void fill(const Rect& where, Rgba colour, double rounding = 0) override {
    note("fill" + in(colour) + " round " + number(rounding), where);
  }
  void fill_all(std::span<const Rect> where, Rgba colour) override {
    for (const Rect& one : where) note("part" + in(colour), one);
  }
  void outline(const Rect& where, const Stroke& stroke, double rounding = 0) override {
    note("outline" + of(stroke) + " round " + number(rounding), where);
  }
  void polygon(std::span<const Point> corners, Rgba colour) override {
    note("polygon" + in(colour), corners);
  }
  void dot(Point centre, double radius, Rgba colour) override {
    note("dot of " + number(radius) + in(colour), {centre});
  }
  void raster(const Raster& values, const ValueColours& colours,
              const RasterPlace& place) override {
    note("raster of " + std::to_string(values.values.rows()) + " rows from " + number(colours.low) +
             " to " + number(colours.high) + ", norm " + std::to_string(int(colours.norm)) +
             ", pool " + std::to_string(int(place.pool)) + ", first" +
             in(opaque(colours.colour(
                 values.values.rows() * values.values.cols() > 0 ? values.values(0, 0) : 0))),
         place.seen);
    note("  in", place.whole);
  }
  void picture(const OutputPicture& picture, const Rect& where) override {
    note("picture of " + std::to_string(picture.rows) + " rows", where);
  }
  void cells(const Rect& where, int rows, int cols, std::span<const Rgba> colours) override {
    std::string all;
    for (std::size_t at = 0; at < std::min<std::size_t>(colours.size(), 12); ++at)
      all += in(colours[at]);
    note("cells " + std::to_string(rows) + " by " + std::to_string(cols) + all, where);
  }
  void push_clip(const Rect& where) override { note("clip", where); }
  void pop_clip() override { lines.push_back("clip ends"); }
  void within(const HalfPlane& where, const std::function<void()>& draw) override {
    note("half", {where.from, where.to});
    draw();
    lines.push_back("half ends");
  }

  std::vector<std::string> lines;

 private:
  static std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f", value + 0.0001);  // no edge lies there by design
    return std::string(text) == "-0.0" ? "0.0" : text;
  }
  static std::string in(Rgba c) {
    char text[32];
    std::snprintf(text, sizeof text, " #%02x%02x%02x.%02x", c.r, c.g, c.b, c.a);
    return text;
  }
  static std::string of(const Stroke& stroke) {
    return in(stroke.colour) + " wide " + number(stroke.width) + (stroke.dashed ? " dashed" : "");
  }
  void note(const std::string& what, std::span<const Point> points) {
    constexpr std::size_t most = 12;
    std::string line =
        what + (points.size() > most ? ", " + std::to_string(points.size()) + " points" : "");
    const std::size_t step = std::max<std::size_t>(1, points.size() / most);
    for (std::size_t at = 0; at < points.size(); at += step)
      line += " (" + number(points[at].x) + " " + number(points[at].y) + ")";
    lines.push_back(line);
  }
  void note(const std::string& what, std::initializer_list<Point> points) {
    note(what, std::span<const Point>(points.begin(), points.size()));
  }
  void note(const std::string& what, const Rect& where) {
    note(what, {{where.x, where.y}, {where.right(), where.bottom()}});
  }
};

}  // namespace fovea::drawing
