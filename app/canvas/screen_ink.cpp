#include "canvas/screen_ink.h"

#include <cmath>

namespace fovea::canvas {
namespace {

/// From the top of a line to the middle of its capitals, in sizes of DejaVu Sans.
constexpr double capitals_middle = 0.484;

ImU32 packed(Rgba c) {
  return IM_COL32(c.r, c.g, c.b, c.a);
}

ImVec2 vec(Point p) {
  return {float(p.x), float(p.y)};
}

ImVec2 first(const Rect& r) {
  return vec({r.x, r.y});
}

ImVec2 last(const Rect& r) {
  return vec({r.right(), r.bottom()});
}

}  // namespace

ScreenInk::ScreenInk(ImDrawList& list, const Fonts& fonts, const drawing::Style& colours,
                     PictureTexture picture)
    : Ink(fonts, colours), list_(list), fonts_(fonts), picture_(std::move(picture)) {}

void ScreenInk::text(Point at, const std::string& words, Rgba colour, Letters face) {
  if (face.size <= 0) face.size = letters.size();
  const Point corner{std::round(at.x), std::round(at.y - capitals_middle * face.size)};
  list_.AddText(fonts_.face(face), float(face.size), vec(corner), packed(colour), words.data(),
                words.data() + words.size());
}

void ScreenInk::text_upwards(Point centre, const std::string& words, Rgba colour, Letters face) {
  if (face.size <= 0) face.size = letters.size();
  const int begin = list_.VtxBuffer.Size;
  const auto x = float(std::round(centre.x)), y = float(std::round(centre.y));
  const auto half = float(std::round(letters.width(words, face) / 2));
  const auto middle = float(std::round(capitals_middle * face.size));
  // Unclipped while it lies flat: the list's clip rectangle is for where it will stand.
  constexpr float far = 1e6f;
  fonts_.face(face)->RenderText(&list_, float(face.size), {x - half, y - middle}, packed(colour),
                                {-far, -far, far, far}, words.data(), words.data() + words.size());
  for (int v = begin; v < list_.VtxBuffer.Size; ++v) {
    ImVec2& p = list_.VtxBuffer[v].pos;
    p = {x + (p.y - y), y - (p.x - x)};
  }
}

void ScreenInk::line(Point from, Point to, const Stroke& stroke) {
  const double width = stroke.width > 0 ? stroke.width : style.hair;
  // On whole pixels, or it would be two faint ones.
  if (from.x == to.x) from.x = to.x = std::floor(from.x);
  if (from.y == to.y) from.y = to.y = std::floor(from.y);
  if (!stroke.dashed) return list_.AddLine(vec(from), vec(to), packed(stroke.colour), float(width));
  constexpr double dash = 4, gap = 3;
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const auto at = [&](double along) {
    const double t = std::min(along, length) / length;
    return vec({from.x + t * (to.x - from.x), from.y + t * (to.y - from.y)});
  };
  for (double along = 0; along < length; along += dash + gap)
    list_.AddLine(at(along), at(along + dash), packed(stroke.colour), float(width));
}

void ScreenInk::path(std::span<const Point> points, const Stroke& stroke) {
  std::vector<ImVec2> corners;
  for (const Point& p : points) corners.push_back(vec(p));
  const double width = stroke.width > 0 ? stroke.width : style.hair;
  list_.AddPolyline(corners.data(), int(corners.size()), packed(stroke.colour), 0, float(width));
}

void ScreenInk::fill(const Rect& where, Rgba colour, double rounding) {
  list_.AddRectFilled(first(where), last(where), packed(colour), float(rounding));
}

void ScreenInk::fill_all(std::span<const Rect> where, Rgba colour) {
  for (const Rect& one : where) list_.AddRectFilled(first(one), last(one), packed(colour));
}

void ScreenInk::outline(const Rect& where, const Stroke& stroke, double rounding) {
  const double width = stroke.width > 0 ? stroke.width : style.hair;
  // On whole pixels, or its sides would be two faint ones each.
  const double left = std::round(where.x), top = std::round(where.y);
  const Rect snapped = rounding > 0 ? where
                                    : Rect{left, top, std::round(where.right()) - left,
                                           std::round(where.bottom()) - top};
  list_.AddRect(first(snapped), last(snapped), packed(stroke.colour), float(rounding), 0,
                float(width));
}

void ScreenInk::polygon(std::span<const Point> corners, Rgba colour) {
  std::vector<ImVec2> points;
  for (const Point& p : corners) points.push_back(vec(p));
  list_.AddConvexPolyFilled(points.data(), int(points.size()), packed(colour));
}

void ScreenInk::dot(Point centre, double radius, Rgba colour) {
  list_.AddCircleFilled(vec(centre), float(std::max(radius, 1.5)), packed(colour), 8);
}

void ScreenInk::raster(const Raster& values, const ValueColours& colours,
                       const drawing::RasterPlace& place) {
  Rect seen = place.seen;
  for (const Rect& clip : clips_) seen = seen.intersected(clip);
  if (!seen.empty()) rasters_.push_back({&values, place.whole, seen, colours, place.pool});
}

void ScreenInk::picture(const OutputPicture& picture, const Rect& where) {
  list_.AddImage(picture_(picture), first(where), last(where));
}

void ScreenInk::cells(const Rect& where, int rows, int cols, std::span<const Rgba> colours) {
  const double width = where.width / cols, height = where.height / rows;
  for (int r = 0; r < rows; ++r)
    for (int c = 0; c < cols; ++c)
      if (const Rgba colour = colours[r * cols + c]; colour.a > 0)
        fill({where.x + c * width, where.y + r * height, width, height}, colour);
}

void ScreenInk::push_clip(const Rect& where) {
  clips_.push_back(where);
  list_.PushClipRect(first(where), last(where), true);
}

void ScreenInk::pop_clip() {
  clips_.pop_back();
  list_.PopClipRect();
}

}  // namespace fovea::canvas
