#include "canvas/screen_ink.h"

#include <array>
#include <cmath>
#include <utility>

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

/// A point of a triangle's edge, `share` of the way from one corner to the other.
ImDrawVert between(const ImDrawVert& a, const ImDrawVert& b, double share) {
  const auto mix = [&](float from, float to) { return float(from + (to - from) * share); };
  const auto colour = [](ImU32 c) {
    const auto channel = [&](int shift) { return std::uint8_t(c >> shift & 0xff); };
    return Rgba{channel(IM_COL32_R_SHIFT), channel(IM_COL32_G_SHIFT), channel(IM_COL32_B_SHIFT),
                channel(IM_COL32_A_SHIFT)};
  };
  return {{mix(a.pos.x, b.pos.x), mix(a.pos.y, b.pos.y)},
          {mix(a.uv.x, b.uv.x), mix(a.uv.y, b.uv.y)},
          packed(drawing::mixed(colour(a.col), colour(b.col), share))};
}

/// The part of a triangle in a half-plane: up to four corners.
std::vector<ImDrawVert> cut(std::span<const ImDrawVert, 3> triangle,
                            const drawing::HalfPlane& part) {
  std::vector<ImDrawVert> corners;
  const auto beyond = [&](const ImDrawVert& v) { return part.beyond({v.pos.x, v.pos.y}); };
  for (int i = 0; i < 3; ++i) {
    const ImDrawVert &a = triangle[i], &b = triangle[(i + 1) % 3];
    const double from = beyond(a), to = beyond(b);
    if (from >= 0) corners.push_back(a);
    if ((from < 0) != (to < 0)) corners.push_back(between(a, b, from / (from - to)));
  }
  return corners;
}

/// Adds the part of a list's triangles that is in a half-plane.
void add_part(ImDrawList& list, const ImDrawList& all, const drawing::HalfPlane& part) {
  for (const ImDrawCmd& command : all.CmdBuffer) {
    const ImVec4& clip = command.ClipRect;
    list.PushClipRect({clip.x, clip.y}, {clip.z, clip.w});
    list.PushTextureID(command.TextureId);
    for (unsigned i = 0; i < command.ElemCount; i += 3) {
      std::array<ImDrawVert, 3> triangle;
      for (unsigned k = 0; k < 3; ++k)
        triangle[k] =
            all.VtxBuffer[int(command.VtxOffset + all.IdxBuffer[command.IdxOffset + i + k])];
      const auto corners = cut(triangle, part);
      const int count = int(corners.size());
      if (count < 3) continue;
      list.PrimReserve(3 * (count - 2), count);
      const unsigned first = list._VtxCurrentIdx;
      for (int k = 2; k < count; ++k)
        for (const unsigned corner : {first, first + k - 1, first + k})
          list.PrimWriteIdx(ImDrawIdx(corner));
      for (const ImDrawVert& v : corners) list.PrimWriteVtx(v.pos, v.uv, v.col);
    }
    list.PopTextureID();
    list.PopClipRect();
  }
}

}  // namespace

ScreenInk::ScreenInk(ImDrawList& list, const Fonts& fonts, const drawing::Style& colours,
                     PictureTexture picture)
    : Ink(fonts, colours), list_(&list), fonts_(fonts), picture_(std::move(picture)) {}

void ScreenInk::text(Point at, const std::string& words, Rgba colour, Letters face) {
  if (face.size <= 0) face.size = letters.size();
  const Point corner{std::round(at.x), std::round(at.y - capitals_middle * face.size)};
  list_->AddText(fonts_.face(face), float(face.size), vec(corner), packed(colour), words.data(),
                 words.data() + words.size());
}

void ScreenInk::text_upwards(Point centre, const std::string& words, Rgba colour, Letters face) {
  if (face.size <= 0) face.size = letters.size();
  const int begin = list_->VtxBuffer.Size;
  const auto x = float(std::round(centre.x)), y = float(std::round(centre.y));
  const auto half = float(std::round(letters.width(words, face) / 2));
  const auto middle = float(std::round(capitals_middle * face.size));
  // Not clipped while it lies flat: the list's clip rectangle applies to its upright place.
  constexpr float far = 1e6f;
  fonts_.face(face)->RenderText(list_, float(face.size), {x - half, y - middle}, packed(colour),
                                {-far, -far, far, far}, words.data(), words.data() + words.size());
  for (int v = begin; v < list_->VtxBuffer.Size; ++v) {
    ImVec2& p = list_->VtxBuffer[v].pos;
    p = {x + (p.y - y), y - (p.x - x)};
  }
}

void ScreenInk::line(Point from, Point to, const Stroke& stroke) {
  const double width = stroke.width > 0 ? stroke.width : style.hair;
  // Lines on whole pixels; otherwise one line would become two faint ones.
  if (from.x == to.x) from.x = to.x = std::floor(from.x);
  if (from.y == to.y) from.y = to.y = std::floor(from.y);
  if (!stroke.dashed)
    return list_->AddLine(vec(from), vec(to), packed(stroke.colour), float(width));
  constexpr double dash = 4, gap = 3;
  const double length = std::hypot(to.x - from.x, to.y - from.y);
  const auto at = [&](double along) {
    const double t = std::min(along, length) / length;
    return vec({from.x + t * (to.x - from.x), from.y + t * (to.y - from.y)});
  };
  for (double along = 0; along < length; along += dash + gap)
    list_->AddLine(at(along), at(along + dash), packed(stroke.colour), float(width));
}

void ScreenInk::path(std::span<const Point> points, const Stroke& stroke) {
  std::vector<ImVec2> corners;
  for (const Point& p : points) corners.push_back(vec(p));
  const double width = stroke.width > 0 ? stroke.width : style.hair;
  list_->AddPolyline(corners.data(), int(corners.size()), packed(stroke.colour), 0, float(width));
}

void ScreenInk::fill(const Rect& where, Rgba colour, double rounding) {
  list_->AddRectFilled(first(where), last(where), packed(colour), float(rounding));
}

void ScreenInk::fill_all(std::span<const Rect> where, Rgba colour) {
  for (const Rect& one : where) list_->AddRectFilled(first(one), last(one), packed(colour));
}

void ScreenInk::outline(const Rect& where, const Stroke& stroke, double rounding) {
  const double width = stroke.width > 0 ? stroke.width : style.hair;
  // Sides on whole pixels; otherwise each would become two faint ones.
  const double left = std::round(where.x), top = std::round(where.y);
  const Rect snapped = rounding > 0 ? where
                                    : Rect{left, top, std::round(where.right()) - left,
                                           std::round(where.bottom()) - top};
  list_->AddRect(first(snapped), last(snapped), packed(stroke.colour), float(rounding), 0,
                 float(width));
}

void ScreenInk::polygon(std::span<const Point> corners, Rgba colour) {
  std::vector<ImVec2> points;
  for (const Point& p : corners) points.push_back(vec(p));
  list_->AddConvexPolyFilled(points.data(), int(points.size()), packed(colour));
}

void ScreenInk::dot(Point centre, double radius, Rgba colour) {
  list_->AddCircleFilled(vec(centre), float(std::max(radius, 1.5)), packed(colour), 8);
}

void ScreenInk::raster(const Raster& values, const ValueColours& colours,
                       const drawing::RasterPlace& place) {
  Rect seen = place.seen;
  for (const Rect& clip : clips_) seen = seen.intersected(clip);
  if (!seen.empty()) rasters_.push_back({&values, place.whole, seen, colours, place.pool, part_});
}

void ScreenInk::picture(const OutputPicture& picture, const Rect& where) {
  list_->AddImage(picture_(picture), first(where), last(where));
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
  list_->PushClipRect(first(where), last(where), true);
}

void ScreenInk::pop_clip() {
  clips_.pop_back();
  list_->PopClipRect();
}

/// ImGui clips to rectangles only, so what is drawn is cut triangle by triangle.
void ScreenInk::within(const drawing::HalfPlane& where, const std::function<void()>& draw) {
  ImDrawList all(ImGui::GetDrawListSharedData());
  all._ResetForNewFrame();
  all.PushTextureID(list_->_CmdHeader.TextureId);
  all.PushClipRect(list_->GetClipRectMin(), list_->GetClipRectMax());
  ImDrawList* const list = std::exchange(list_, &all);
  part_ = where;
  draw();
  part_.reset();
  list_ = list;
  add_part(*list_, all, where);
}

}  // namespace fovea::canvas
