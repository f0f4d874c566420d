// Ink writes and draws in the theme's colours on one ImGui draw list.
#pragma once

#include <string>
#include <vector>

#include "canvas/fonts.h"
#include "canvas/rect.h"
#include "canvas/theme.h"

namespace fovea::canvas {

inline ImVec2 vec(Point p) {
  return {p.x, p.y};
}

struct Ink {
  ImDrawList& list;
  const Fonts& fonts;
  const Theme& theme;

  float width(Face face, const std::string& text) const { return fonts.width(face, text); }
  /// Shortened with an ellipsis to `width`; empty when not even that fits.
  std::string elided(Face face, const std::string& text, float width) const;
  /// Broken at spaces into at most `lines`, the last one elided.
  std::vector<std::string> wrapped(Face face, const std::string& text, float width,
                                   int lines) const;

  void write(Face face, Point at, ImU32 colour, const std::string& text) const;
  void write_right(Face face, Point at, ImU32 colour, const std::string& text) const;
  void write_centred(Face face, Point centre, ImU32 colour, const std::string& text) const;
  /// Reads upwards, centred at a point.
  void write_upright(Face face, Point centre, ImU32 colour, const std::string& text) const;
  void write_paragraph(Face face, const Rect& within, ImU32 colour, const std::string& text) const;

  void fill(const Rect& r, ImU32 colour, float rounding = 0) const;
  void frame(const Rect& r, ImU32 colour, float thickness = 1, float rounding = 0) const;
  void line(Point a, Point b, ImU32 colour, float thickness = 1) const;
};

/// Clips to a rectangle while it lives.
class Clip {
 public:
  Clip(const Ink& ink, const Rect& r) : list_(ink.list) {
    list_.PushClipRect({r.x, r.y}, {r.right(), r.bottom()}, true);
  }
  ~Clip() { list_.PopClipRect(); }
  Clip(const Clip&) = delete;
  Clip& operator=(const Clip&) = delete;

 private:
  ImDrawList& list_;
};

}  // namespace fovea::canvas
